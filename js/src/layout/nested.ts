/** Lays out a tree of open groups: each group alone, from the inside out, then all together. */

import { groupBy } from "./adjacency.ts";
import { assemble } from "./assemble.ts";
import type { NestedGraph, NestedOptions, NestedResult } from "./contract.ts";
import type { PortOrder } from "./frame.ts";
import { type Frame, layoutGroup } from "./frame.ts";
import { liftEdges } from "./lift.ts";
import { settingsOf } from "./part.ts";
import { wantedOrder } from "./port_order.ts";

/**
 * Lay out the visible tree.
 *
 * @throws LayoutCancelled when `options.isCancelled` said so.
 */
export function layoutNested(graph: NestedGraph, options: NestedOptions = {}): NestedResult {
  const { itemCount, open, parent } = graph;
  const settings = settingsOf(options);
  const links = liftEdges(graph);
  const linksOf = groupBy(links.group, itemCount + 1);
  const parentOrTop = parent.map((p) => (p < 0 ? itemCount : p));
  const childrenOf = groupBy(parentOrTop, itemCount + 1);
  const frames: Array<Frame | undefined> = new Array(itemCount + 1);
  const scratch = {
    local: new Int32Array(itemCount),
    bundleOf: new Int32Array(itemCount).fill(-1),
  };
  const childrenIn = (group: number): Int32Array =>
    childrenOf.list.subarray(childrenOf.start[group]!, childrenOf.start[group + 1]!);
  const layOut = (group: number, wanted: PortOrder | null): void => {
    const own = linksOf.list.subarray(linksOf.start[group]!, linksOf.start[group + 1]!);
    const children = childrenIn(group);
    frames[group] = layoutGroup(
      graph,
      group,
      children,
      own,
      links,
      frames,
      settings,
      options,
      scratch,
      wanted,
    );
  };

  /** Boxes that may be laid out once more. */
  let spare = itemCount;
  /** Lay these children out with other orders of their ports, and the group round them; undo it if that is no better. */
  const reorder = (group: number, changes: readonly [number, PortOrder][]): boolean => {
    const before = [group, ...changes.map(([child]) => child)].map(
      (item) => [item, frames[item]!] as const,
    );
    for (const [item] of before) spare -= childrenIn(item).length;
    if (spare < 0) return false;
    for (const [child, wanted] of changes) layOut(child, wanted);
    layOut(group, null);
    let removed = 0;
    for (const [item, frame] of before) {
      removed += frame.layout.crossings - frames[item]!.layout.crossings;
    }
    if (removed <= 0) for (const [item, frame] of before) frames[item] = frame;
    return removed > 0;
  };

  /** Groups inside were laid out without knowing the lines round them: ask for the order of ports that these want. */
  const untangle = (group: number): boolean => {
    const changes: [number, PortOrder][] = [];
    for (const child of childrenIn(group)) {
      const inner = frames[child];
      const wanted = inner ? wantedOrder(frames[group]!, child, inner, links) : null;
      if (wanted !== null) changes.push([child, wanted]);
    }
    if (changes.length > 1 && reorder(group, changes)) return true;
    return changes.slice(0, MOST_TRIES).some((change) => reorder(group, [change]));
  };

  for (let g = itemCount; g >= 0; g--) {
    const group = g === 0 ? itemCount : g - 1; // groups from the last to the first, the top at the end
    if (group < itemCount && !open[group]) continue;
    layOut(group, null);
    for (let turn = 0; turn < MOST_TURNS && frames[group]!.layout.crossings > 0; turn++) {
      if (!untangle(group)) break;
    }
  }
  return assemble(graph, links, frames, childrenOf);
}

/** How often groups are asked for another order of their ports. */
const MOST_TURNS = 3;
/** How many of a group's children are asked one by one. */
const MOST_TRIES = 8;

/** Lays out a tree of open groups: each group alone, from the inside out, then all together. */

import { groupBy } from "./adjacency.ts";
import { assemble } from "./assemble.ts";
import type { NestedGraph, NestedOptions, NestedResult } from "./contract.ts";
import { type Frame, layoutGroup } from "./frame.ts";
import { settingsOf } from "./layered/component.ts";
import { splitEdges } from "./split_edges.ts";

/** Lay out the visible tree. */
export function layoutNested(graph: NestedGraph, options: NestedOptions = {}): NestedResult {
  const { itemCount, open, parent } = graph;
  const settings = settingsOf(options);
  const links = splitEdges(graph);
  const linksOf = groupBy(links.group, itemCount + 1);
  const parentOrTop = parent.map((p) => (p < 0 ? itemCount : p));
  const childrenOf = groupBy(parentOrTop, itemCount + 1);
  const frames: Array<Frame | undefined> = new Array(itemCount + 1);
  const scratch = {
    local: new Int32Array(itemCount),
    bundleOf: new Int32Array(itemCount).fill(-1),
  };
  for (let g = itemCount; g >= 0; g--) {
    const group = g === 0 ? itemCount : g - 1; // groups from the last to the first, the top at the end
    if (group < itemCount && !open[group]) continue;
    const own = linksOf.list.subarray(linksOf.start[group]!, linksOf.start[group + 1]!);
    const children = childrenOf.list.subarray(
      childrenOf.start[group]!,
      childrenOf.start[group + 1]!,
    );
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
    );
  }
  return assemble(graph, links, frames, childrenOf);
}

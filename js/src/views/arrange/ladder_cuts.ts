/** Cuts in the right half of a ladder: no gradient reaches the op that the cut is at. */

import type { Pictured } from "../../model/state/pictured.ts";
import type { VisibleItem, VisibleTree } from "../../model/visible/visible_tree.ts";
import { EDGE_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { marksOfBox } from "../scene/box_marks.ts";
import type { BoxContent, BoxWriter } from "./box_content.ts";

const DETACH = EDGE_KINDS.indexOf("detach");

/** The empty place for an op that is marked as a cut and has no grad node in view. */
export function ghostOfCut(
  store: Pictured,
  writer: BoxWriter,
  item: VisibleItem,
): BoxContent | undefined {
  if (item.kind !== "op") {
    return undefined;
  }
  const ghost = writer.ghost(item.key, `cut:${item.key}`);
  return marksOfBox(store, ghost).some(({ role }) => role === "cut") ? ghost : undefined;
}

/** Pairs of items: grad nodes of ops that read a cut op's tensors, and the cut's empty place. */
export function cutEdges(
  trace: Trace,
  tree: VisibleTree,
  rows: readonly (readonly BoxContent[])[],
): [source: number, target: number][] {
  const pairs: [number, number][] = [];
  rows.forEach((row, item) => {
    const [box] = row;
    if (box?.kind !== "ghost") {
      return;
    }
    const leaving = [...trace.edgesFrom(box.op)];
    const detached = leaving.filter((edge) => trace.at("op_edges", "kind", edge) === DETACH);
    for (const edge of detached.length ? detached : leaving) {
      const reader = trace.at("op_edges", "target", edge);
      const at = reader >= 0 ? tree.boxOfOp(reader) : -1;
      if (at >= 0 && rows[at]!.some(({ kind }) => kind !== "ghost")) {
        pairs.push([at, item]);
      }
    }
  });
  return pairs;
}

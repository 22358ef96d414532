/** Cuts in the right column of a ladder. A cut is at an op that no gradient reaches. */

import type { Pictured } from "../../model/state/pictured.ts";
import type { VisibleItem, VisibleTree } from "../../model/visible/visible_tree.ts";
import { EDGE_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { marksOfBox } from "../scene/box_marks.ts";
import type { BoxContent, BoxWriter } from "./box_content.ts";

const DETACH = EDGE_KINDS.indexOf("detach");

/**
 * The empty box in the right column for an op that is marked as a cut and has no visible grad node.
 */
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

/**
 * The pairs of items between which a cut is drawn: the grad nodes of ops that read the tensors of
 * the cut op, and the empty box of the cut.
 */
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

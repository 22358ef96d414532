/** Puts the branches of folded fans back into the finished layout. */

import { PointList } from "../../points.ts";
import type { ComponentLayout } from "../component_layout.ts";
import type { Boxes } from "../flow.ts";
import type { FoldedFans } from "./fold.ts";
import { enterRow, leaveRow } from "./rows.ts";

/** Put the branches of folded fans back. */
export function unfoldFans(
  boxes: Boxes,
  folded: FoldedFans,
  part: ComponentLayout,
): ComponentLayout {
  const { boxOf, edgeOf, fanOf, branchOf } = folded;
  const edgeCount = boxes.source.length;
  const whole: ComponentLayout = {
    ...part,
    x: new Float64Array(boxes.count),
    y: new Float64Array(boxes.count),
    onMainPath: new Uint8Array(boxes.count),
    edgeStart: new Int32Array(edgeCount + 1),
    edgeKind: new Uint8Array(edgeCount),
    points: new PointList(6 * edgeCount),
  };
  const topOf = (box: number): number => part.y[box]! - folded.boxes.height[box]! / 2;
  for (let v = 0; v < boxes.count; v++) {
    if (fanOf[v]! >= 0) continue;
    whole.x[v] = part.x[boxOf[v]!]!;
    whole.y[v] = part.y[boxOf[v]!]!;
    whole.onMainPath[v] = part.onMainPath[boxOf[v]!]!;
  }
  folded.fans.forEach(({ branches }, i) => {
    const rows = folded.rows[i]!;
    branches.forEach((branch, place) => {
      branch.forEach((v, k) => {
        whole.x[v] = part.x[boxOf[v]!]! + rows.x[place]!;
        whole.y[v] = topOf(boxOf[v]!) + rows.top[place]![k]! + boxes.height[v]! / 2;
      });
    });
  });
  const { points } = whole;
  const bottomOf = (v: number): number => whole.y[v]! + boxes.height[v]! / 2;
  for (let e = 0; e < edgeCount; e++) {
    const begin = points.length;
    whole.edgeStart[e] = begin;
    const source = boxes.source[e]!;
    const target = boxes.target[e]!;
    const from = fanOf[source]!;
    const to = fanOf[target]!;
    const box = boxOf[from >= 0 ? source : target]!;
    const anchor = part.x[box]!;
    if (edgeOf[e] === -1) {
      points.push(whole.x[source]!, bottomOf(source));
      points.push(whole.x[target]!, whole.y[target]! - boxes.height[target]! / 2);
      continue;
    }
    whole.edgeKind[e] = part.edgeKind[edgeOf[e]!]!;
    if (from >= 0) {
      const rows = folded.rows[from]!;
      leaveRow(points, begin, rows, branchOf[source]!, anchor, topOf(box), bottomOf(source));
    }
    for (let i = part.edgeStart[edgeOf[e]!]!; i < part.edgeStart[edgeOf[e]! + 1]!; i++) {
      points.extend(begin, part.points.x[i]!, part.points.y[i]!);
    }
    if (to >= 0) {
      enterRow(points, begin, folded.rows[to]!, branchOf[target]!, anchor, topOf(box));
    }
  }
  whole.edgeStart[edgeCount] = points.length;
  return whole;
}

/** The same op in other iterations of a loop. */

import type { Trace } from "../../trace/trace.ts";

/** The iterations of the innermost loop around an op that ran the same op: their names and ops. */
export function sameOpInTurns(trace: Trace, op: number): [name: string, op: number][] {
  const isTurn = (group: number): boolean => trace.groupKind(group) === "turn";
  const turn = trace.groupPath(trace.groupOfOp(op)).findLast(isTurn);
  if (turn === undefined) return [];
  const of = (column: "parent" | "first_op" | "op_count", group: number): number =>
    trace.at("groups", column, group);
  const loopOf = (group: number): number => {
    const row = trace
      .table("turns")
      .column("scope")
      .indexOf(trace.at("groups", "scope", group));
    return row < 0 ? -1 : trace.at("turns", "loop", row);
  };
  const loop = loopOf(turn);
  const found: [string, number][] = [];
  for (let group = 0; group < trace.table("groups").length; group++) {
    if (of("parent", group) !== of("parent", turn) || !isTurn(group) || loopOf(group) !== loop) {
      continue;
    }
    const other = of("first_op", group) + op - of("first_op", turn);
    const isSame =
      other < of("first_op", group) + of("op_count", group) &&
      trace.opLabel(other) === trace.opLabel(op) &&
      trace.ownFrameOf(other) === trace.ownFrameOf(op);
    if (isSame) found.push([`${trace.groupLabel(group)} ${trace.turnValue(group)}`.trim(), other]);
  }
  return found;
}

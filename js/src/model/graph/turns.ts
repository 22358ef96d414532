/** The same op in other iterations of a loop. */

import type { Trace } from "../../trace/trace.ts";

/** The iterations of the innermost loop around an op that ran the same op: their names and ops. */
export function sameOpInTurns(trace: Trace, op: number): [name: string, op: number][] {
  const isTurn = (group: number): boolean => trace.groupKind(group) === "turn";
  const turn = trace.groupPath(trace.groupOfOp(op)).findLast(isTurn);
  if (turn === undefined) return [];
  const loopOf = (group: number): number => {
    const row = trace
      .table("turns")
      .column("scope")
      .indexOf(trace.at("groups", "scope", group));
    return row < 0 ? -1 : trace.at("turns", "loop", row);
  };
  const parentOf = (group: number): number => trace.at("groups", "parent", group);
  /** The ops in an iteration with the same name on the same line. */
  const alike = (group: number): number[] => {
    const first = trace.at("groups", "first_op", group);
    const ops = Array.from(
      { length: trace.at("groups", "op_count", group) },
      (_, at) => first + at,
    );
    return ops.filter(
      (other) =>
        trace.opLabel(other) === trace.opLabel(op) &&
        trace.ownFrameOf(other) === trace.ownFrameOf(op),
    );
  };
  const place = alike(turn).indexOf(op);
  const found: [string, number][] = [];
  for (let group = 0; group < trace.table("groups").length; group++) {
    if (!isTurn(group) || parentOf(group) !== parentOf(turn)) continue;
    const other = loopOf(group) === loopOf(turn) ? alike(group)[place] : undefined;
    if (other === undefined) continue;
    found.push([`${trace.groupLabel(group)} ${trace.turnValue(group)}`.trim(), other]);
  }
  return found;
}

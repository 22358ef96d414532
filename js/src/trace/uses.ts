import type { Trace } from "./trace.ts";

/** Called for each use of a recorded tensor by a recorded op. */
export type SeeUse = (op: number, tensor: number, role: number, use: number) => void;

export function eachUse(trace: Trace, see: SeeUse): void {
  const [op, tensor, role] = trace.columns("uses", "op", "tensor", "role");
  for (let use = 0; use < op.length; use++) {
    if (op[use]! >= 0 && tensor[use]! >= 0) see(op[use]!, tensor[use]!, role[use]!, use);
  }
}

/** Ops that the forward graph leaves out unless the user asks for them. */
import { PHASES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

const OPTIMIZER = PHASES.indexOf("optimizer");

/**
 * 1 for the ops of optimizers and of Paddle's initializers: a model made in the traced code has one
 * initializer op for each parameter. If a trace has nothing else, the initializers are shown.
 */
export function asideOps(trace: Trace): Uint8Array {
  const isInitial = trace.table("op_groups").column("is_initial");
  const isOptimizer = Uint8Array.from(trace.table("ops").column("phase"), (code) =>
    Number(code === OPTIMIZER),
  );
  const isAside = isOptimizer.map((is, op) => is | isInitial[op]!);
  return isAside.includes(0) ? isAside : isOptimizer;
}

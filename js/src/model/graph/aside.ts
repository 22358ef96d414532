/** Ops that the forward graph leaves out unless the user asks for them. */
import { FRAME_KINDS, PHASES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

const OPTIMIZER = PHASES.indexOf("optimizer");
const PADDLE = FRAME_KINDS.indexOf("paddle");

/**
 * 1 for the ops of optimizers and of Paddle's initializers: a model made in the traced code has one
 * initializer op for each parameter. If a trace has nothing else, the initializers are shown.
 */
export function asideOps(trace: Trace): Uint8Array {
  const ops = trace.table("ops");
  const [phase, stack] = [ops.column("phase"), ops.column("stack")];
  const isOptimizer = Uint8Array.from(phase, (code) => Number(code === OPTIMIZER));
  const isInitial = stacksOfInitializers(trace);
  const isAside = isOptimizer.map((is, op) => is | (stack[op]! >= 0 ? isInitial[stack[op]!]! : 0));
  return isAside.includes(0) ? isAside : isOptimizer;
}

function stacksOfInitializers(trace: Trace): Uint8Array {
  const frames = trace.table("frames");
  const [file, kind] = [frames.column("file"), frames.column("kind")];
  const isFile = trace.strings.map((path) => /[\\/]nn[\\/]initializer[\\/]/.test(path));
  const stacks = trace.table("stacks");
  const [frame, caller] = [stacks.column("frame"), stacks.column("caller")];
  const isInside = new Uint8Array(stacks.length);
  for (let at = 0; at < isInside.length; at++) {
    const own = frame[at]!;
    const isOwn = own >= 0 && kind[own] === PADDLE && isFile[file[own]!];
    isInside[at] = isOwn || (caller[at]! >= 0 && isInside[caller[at]!]) ? 1 : 0;
  }
  return isInside;
}

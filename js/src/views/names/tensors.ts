/** The input or output tensors of an op, and their shapes. */
import type { Trace } from "../../trace/trace.ts";

/** @param uses rows of `uses`, such as an op's inputs */
export function tensorsOf(trace: Trace, uses: Int32Array): number[] {
  return Array.from(uses, (use) => trace.at("uses", "tensor", use)).filter((tensor) => tensor >= 0);
}

export function shapesOf(trace: Trace, uses: Int32Array): string[] {
  return tensorsOf(trace, uses).map((tensor) => trace.textAt("tensors", "shape", tensor));
}

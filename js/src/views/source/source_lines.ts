/** How many ops each line of each file made. */
import type { Trace } from "../../trace/trace.ts";

export type LineCounts = ReadonlyMap<number, ReadonlyMap<number, number>>;

/**
 * Count, for each line, the ops whose call stack passes through a frame that starts there. An op
 * counts once for a line, even if the line calls itself.
 *
 * @returns position of the file's name in `strings` → line, from 1 → number of ops
 */
export function countOpsByLine(trace: Trace): LineCounts {
  const stacks = trace.table("stacks");
  const [caller, frameOf] = trace.columns("stacks", "caller", "frame");
  const [file, line] = trace.columns("frames", "file", "line");
  const opCount = new Int32Array(stacks.length);
  const stackOf = trace.table("ops").column("stack");
  for (let op = 0; op < stackOf.length; op++) {
    const stack = stackOf[op]!;
    if (stack >= 0) opCount[stack]!++;
  }
  // A caller's row comes first. So, going backwards, a count is complete when it is added.
  for (let stack = stacks.length - 1; stack >= 0; stack--) {
    if (caller[stack]! >= 0) opCount[caller[stack]!]! += opCount[stack]!;
  }
  const counts = new Map<number, Map<number, number>>();
  for (let stack = 0; stack < stacks.length; stack++) {
    const frame = frameOf[stack]!;
    if (frame < 0 || opCount[stack] === 0 || isRepeated(stack, frame)) continue;
    const lines = counts.get(file[frame]!) ?? new Map<number, number>();
    lines.set(line[frame]!, (lines.get(line[frame]!) ?? 0) + opCount[stack]!);
    counts.set(file[frame]!, lines);
  }
  return counts;

  function isRepeated(stack: number, frame: number): boolean {
    for (let at = caller[stack]!; at >= 0; at = caller[at]!) {
      const other = frameOf[at]!;
      if (other >= 0 && line[other] === line[frame] && file[other] === file[frame]) return true;
    }
    return false;
  }
}

/** Groups blocks by line of source. */

import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import type { Groups } from "./groups.ts";

const NO_FRAME = -1;
const BEFORE = -2;

/** Groups by the innermost line of the user's code in the stack. */
export function byLine(trace: Trace): Groups {
  const [fileOf, lineOf] = trace.columns("frames", "file", "line");
  const frameOf: number[] = [BEFORE, NO_FRAME];
  const [before, none] = [0, 1];
  const numbers = new Map<string, number>();
  const ofFrame = Int32Array.from(fileOf, (file, frame) => {
    const key = `${file} ${lineOf[frame]}`;
    const number = numbers.get(key) ?? frameOf.push(frame) - 1;
    numbers.set(key, number);
    return number;
  });
  const ownFrame = trace.table("stack_frames").column("frame");
  const stackOfOp = trace.table("ops").column("stack");
  const table = trace.table("allocations");
  const [opOf, stackOf, startOf] = trace.columns("allocations", "op", "stack", "start_ns");
  const groupOf = new Int32Array(table.length);
  for (let row = 0; row < groupOf.length; row++) {
    const own = ownFrame[stackOf[row]!] ?? NO_FRAME;
    const frame = own >= 0 ? own : (ownFrame[stackOfOp[opOf[row]!]!] ?? NO_FRAME);
    groupOf[row] = ofFrame[frame] ?? (startOf[row]! < 0 ? before : none);
  }
  return {
    groupOf,
    count: frameOf.length,
    label(number) {
      const frame = frameOf[number]!;
      if (frame < 0) {
        return t(frame === BEFORE ? "memory_kind.earlier" : "memory.no_line");
      }
      const cell = trace.at("frames", "cell", frame);
      const file = trace.textAt("frames", "file", frame).split(/[\\/]/).at(-1);
      const line = trace.at("frames", "line", frame);
      return t("place.file_line", { file: cell >= 0 ? t("place.cell", { cell }) : file!, line });
    },
    note(number) {
      const source = frameOf[number]! >= 0 ? trace.sourceOf(frameOf[number]!) : undefined;
      return source?.lines[lineOf[frameOf[number]!]! - source.firstLine]?.trim() ?? "";
    },
    selection(number) {
      const frame = frameOf[number]!;
      return frame < 0
        ? { kind: "none" }
        : { kind: "line", file: fileOf[frame]!, line: lineOf[frame]! };
    },
  };
}

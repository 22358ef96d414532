/** The files and cells whose text is in a trace, in the order in which a person looks for them. */

import { FRAME_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

/** Consecutive recorded lines of one file. */
interface SourceStretch {
  readonly firstLine: number;
  readonly lines: readonly string[];
}

export interface SourceFile {
  /** String code of the file's name. */
  readonly file: number;
  /** Execution count of the notebook cell, -1 for a file. */
  readonly cell: number;
  /** The known stretches of the text, in the order of their lines. A notebook cell has one. */
  readonly stretches: readonly SourceStretch[];
  /** Whether the code is the user's, Paddle's, or another's. */
  readonly kind: (typeof FRAME_KINDS)[number];
}

/** All files with recorded text: the traced one, then the user's, libraries', Paddle's files. */
export function sourceFiles(trace: Trace): SourceFile[] {
  const kinds = new Map<number, SourceFile["kind"]>();
  for (let frame = 0; frame < trace.table("frames").length; frame++) {
    kinds.set(trace.at("frames", "file", frame), trace.frameKind(frame));
  }
  const files = new Map<number, { cell: number; stretches: SourceStretch[] }>();
  for (let row = 0; row < trace.table("sources").length; row++) {
    const file = trace.at("sources", "file", row);
    const entry = files.get(file) ?? { cell: trace.at("sources", "cell", row), stretches: [] };
    entry.stretches.push({
      firstLine: trace.at("sources", "first_line", row),
      lines: trace.textAt("sources", "text", row).replace(/\n$/, "").split("\n"),
    });
    files.set(file, entry);
  }
  const traced = tracedFile(trace);
  return [...files]
    .map(([file, { cell, stretches }]) => ({
      file,
      cell,
      stretches: stretches.sort((a, b) => a.firstLine - b.firstLine),
      kind: kinds.get(file) ?? (cell >= 0 ? "user" : "library"),
    }))
    .sort(
      (a, b) =>
        FRAME_KINDS.indexOf(a.kind) - FRAME_KINDS.indexOf(b.kind) ||
        Number(b.file === traced) - Number(a.file === traced) ||
        Number(b.cell >= 0) - Number(a.cell >= 0) ||
        a.cell - b.cell ||
        (trace.text(a.file) < trace.text(b.file) ? -1 : 1),
    );
}

/**
 * The cell or script that was traced: the outermost user frame of the ops' stacks.
 *
 * @returns the file's name as a position in `strings`, -1 if no frame is the user's
 */
function tracedFile(trace: Trace): number {
  const [caller, frameOf] = trace.columns("stacks", "caller", "frame");
  const outermost = new Int32Array(caller.length);
  // The table lists a caller before the functions that it calls.
  for (let stack = 0; stack < caller.length; stack++) {
    const above = caller[stack]! >= 0 ? outermost[caller[stack]!]! : -1;
    const frame = frameOf[stack]!;
    const isOwn = frame >= 0 && trace.frameKind(frame) === "user";
    outermost[stack] = above < 0 && isOwn ? frame : above;
  }
  const opCount = new Map<number, number>();
  for (const stack of trace.table("ops").column("stack")) {
    const frame = stack >= 0 ? outermost[stack]! : -1;
    if (frame >= 0) opCount.set(frame, (opCount.get(frame) ?? 0) + 1);
  }
  const at = (column: "file" | "cell", frame: number) => trace.at("frames", column, frame);
  // A thread may begin in a function of an earlier cell, so take the cell that ran last.
  const [first] = [...opCount].sort(
    ([a, ofA], [b, ofB]) => at("cell", b) - at("cell", a) || ofB - ofA,
  );
  return first ? at("file", first[0]) : -1;
}

/** The call stack in reading order: the user's frames first, other frames folded. */
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { fileName } from "./file_names.ts";

export interface OrderedStack {
  /** Innermost first. The user's frames; if there are none, the frames nearest to them. */
  readonly own: number[];
  /** Frames in other libraries, innermost first. */
  readonly library: number[];
  /** Frames inside Paddle, innermost first. */
  readonly paddle: number[];
}

/** @param frames frame keys, innermost first */
export function orderStack(trace: Trace, frames: readonly number[]): OrderedStack {
  const of = (kind: string) => frames.filter((frame) => trace.frameKind(frame) === kind);
  const user = of("user");
  const library = of("library");
  const paddle = of("paddle");
  if (user.length > 0) return { own: user, library, paddle };
  if (library.length > 0) return { own: library, library: [], paddle };
  return { own: paddle, library: [], paddle: [] };
}

/** "Cell 4, line 7" or "model.py, line 12". */
export function frameLabel(trace: Trace, frame: number): string {
  const place = fileLabel(
    trace,
    trace.at("frames", "file", frame),
    trace.at("frames", "cell", frame),
  );
  return t("place.file_line", { file: place, line: trace.at("frames", "line", frame) });
}

/**
 * "Cell 4" or "model.py"; "nn/layer.py" if another file has the same name.
 *
 * @param file the file's name, as a position in `strings`
 * @param cell execution count of the notebook cell, -1 for a file
 */
export function fileLabel(trace: Trace, file: number, cell: number): string {
  if (cell >= 0) return t("place.cell", { cell });
  return fileName(trace, file) || t("place.unknown_file");
}

/** As Python prints a traceback: outermost frame first, with source lines if they are known. */
export function stackText(trace: Trace, frames: readonly number[]): string {
  const lines = ["Traceback (most recent call last):"];
  for (const frame of [...frames].reverse()) {
    const cell = trace.at("frames", "cell", frame);
    const line = trace.at("frames", "line", frame);
    const place = cell >= 0 ? `Cell ${cell}` : `File "${trace.textAt("frames", "file", frame)}"`;
    lines.push(`  ${place}, line ${line}, in ${trace.textAt("frames", "function", frame)}`);
    const source = trace.sourceOf(frame);
    const text = source?.lines[line - source.firstLine]?.trim();
    if (text) lines.push(`    ${text}`);
  }
  return lines.join("\n");
}

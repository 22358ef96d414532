/** Asks the surrounding page to show a line of source; a page that cannot leaves it to the view. */
import type { Trace } from "../../model/trace.ts";
import { OPEN_SOURCE_EVENT, type OpenSourceDetail } from "../../protocol.ts";

/** A line as the trace knows it. */
export interface SourceLine {
  /** String code of the file's name. */
  readonly file: number;
  /** From 1. */
  readonly line: number;
  /** Execution count of the notebook cell, -1 for a file. */
  readonly cell: number;
}

/** @returns whether the page shows it */
export function askForSource(from: HTMLElement, trace: Trace, at: SourceLine): boolean {
  const event = new CustomEvent<OpenSourceDetail>(OPEN_SOURCE_EVENT, {
    bubbles: true,
    cancelable: true,
    composed: true,
    detail: {
      file: trace.text(at.file),
      line: at.line,
      cell: at.cell,
      source_text: at.cell >= 0 ? (trace.sourceAround(at.file, at.line)?.text ?? "") : "",
    },
  });
  return !from.dispatchEvent(event);
}

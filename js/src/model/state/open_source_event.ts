/** How a view asks the surrounding page to show a line of a cell or file. */

/** Asks the surrounding page to show a source line; it calls preventDefault() if it does. */
export interface OpenSourceDetail {
  file: string;
  /** From 1. */
  line: number;
  /** Execution count of the notebook cell, -1 for a file. */
  cell: number;
  /** The whole text of the cell, or lines of the file near the line, as traced; "" if unknown. */
  source_text: string;
  /** Number of the text's first line, from 1. */
  first_line: number;
  /**
   * The page calls this, at once or later, if the text has changed since the trace.
   *
   * @returns the text to show next to the line
   */
  tell?: (now: LineNow) => string;
}
/** The state of a line whose cell or file was edited. */
export type LineNow =
  | { state: "kept" | "moved"; line: number }
  /** The line is not in its cell or file any more; `show` shows the cell or file. */
  | { state: "gone"; show: () => void }
  /** No cell has the line's text, or the file cannot be read. */
  | { state: "missing" };
export const OPEN_SOURCE_EVENT = "paddle-lab:open-source";

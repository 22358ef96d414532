/** The event by which a view asks the page around it to show a line of a cell or file. */

/** The page calls preventDefault() if it shows the line. */
export interface OpenSourceDetail {
  file: string;
  /** The number of the line, from 1. */
  line: number;
  /** Execution count of the notebook cell, -1 for a file. */
  cell: number;
  /**
   * The text of the cell, or lines of the file around the line, at the time of the trace; "" if
   * unknown.
   */
  source_text: string;
  /** The number of the first line of the text, from 1. */
  first_line: number;
  /**
   * The page calls this, at once or later, if the text was changed after the trace.
   *
   * @returns the text to show next to the line
   */
  tell?: (now: LineNow) => string;
}
/** The state of a line whose cell or file was edited. */
export type LineNow =
  | { state: "kept" | "moved"; line: number }
  /** The line is not in its cell or file any more. `show` shows the cell or file. */
  | { state: "gone"; show: () => void }
  /** No cell has the text of the line, or the file cannot be read. */
  | { state: "missing" };
export const OPEN_SOURCE_EVENT = "paddle-lab:open-source";

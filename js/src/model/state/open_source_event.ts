/** How a view asks the page around it to show a line of a cell or file. */

/** Asks the surrounding page to show a source line; it calls preventDefault() if it does. */
export interface OpenSourceDetail {
  file: string;
  /** From 1. */
  line: number;
  /** Execution count of the notebook cell, -1 for a file. */
  cell: number;
  /** The whole text of the cell, or lines of the file around it, as they were; "" where unknown. */
  source_text: string;
  /** Number of the text's first line, from 1. */
  first_line: number;
  /**
   * For the page to call, at once or later, where the text is no longer what it was.
   *
   * @returns what to say beside the line
   */
  tell?: (now: LineNow) => string;
}
/** What has become of a line whose cell or file was edited. */
export type LineNow =
  | { state: "kept" | "moved"; line: number }
  /** It is not found in its cell or file, which `show` shows. */
  | { state: "gone"; show: () => void }
  /** No cell has its text, or the file cannot be read. */
  | { state: "missing" };
export const OPEN_SOURCE_EVENT = "paddle-lab:open-source";

import type { OpenSourceRequest } from "./request.ts";

/** What finding needs to know of a cell. */
export interface CellText {
  readonly id: string;
  readonly execution_count: number | null;
  readonly text: string;
}

/**
 * Index of the cell a request means, or -1.
 *
 * A cell's id survives saving, edits and a new kernel. Its text survives a new kernel but not an
 * edit. An execution count survives an edit but means another cell after a restart, so it counts
 * only where no other cell has the text that was traced.
 */
export function findCell(cells: readonly CellText[], request: OpenSourceRequest): number {
  if (request.cell_id !== undefined) {
    const by_id = cells.findIndex((cell) => cell.id === request.cell_id);
    if (by_id >= 0) return by_id;
  }
  const { source_text } = request;
  if (source_text !== undefined) {
    const traced = source_text.trim();
    const same = cells
      .map((_, index) => index)
      .filter((index) => traced !== "" && matches(cells[index]!.text, traced));
    const again = same.find((index) => cells[index]!.execution_count === request.cell);
    if (again !== undefined || same.length > 0) return again ?? same[0]!;
  }
  if (request.cell === undefined) return -1;
  return cells.findIndex((cell) => cell.execution_count === request.cell);
}

/** The traced text is the cell's, or the cell's without its `%%` line. */
function matches(cell_text: string, traced: string): boolean {
  const text = cell_text.trim();
  if (text === traced) return true;
  return text.startsWith("%%") && text.slice(text.indexOf("\n") + 1).trim() === traced;
}

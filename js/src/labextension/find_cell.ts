import type { OpenSourceRequest } from "./request.ts";

/** What finding needs to know of a cell. */
export interface CellText {
  readonly id: string;
  readonly execution_count: number | null;
  readonly text: string;
}

/** A cell of the notebook, and the line (from 1) in its text as it stands there. */
export interface CellLine {
  readonly index: number;
  readonly line: number;
}

/** Finds the cell a request means, and the line in it; `null` if it is not here. */
export function findCell(cells: readonly CellText[], request: OpenSourceRequest): CellLine | null {
  const index = findIndex(cells, request);
  const cell = cells[index];
  if (cell === undefined) return null;
  // IPython drops empty lines at the top of a cell before it counts.
  const dropped = emptyLinesAbove(cell.text) - emptyLinesAbove(request.source_text ?? "");
  return { index, line: request.line + Math.max(dropped, 0) };
}

function emptyLinesAbove(text: string): number {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  return Math.max(first, 0);
}

/**
 * Index of the cell a request means, or -1.
 *
 * A cell's id survives saving, edits and a new kernel. Its text survives a new kernel but not an
 * edit. An execution count survives an edit but means another cell after a restart, so it counts
 * only where no other cell has the text that was traced.
 */
function findIndex(cells: readonly CellText[], request: OpenSourceRequest): number {
  if (request.cell_id !== undefined) {
    const by_id = cells.findIndex((cell) => cell.id === request.cell_id);
    if (by_id >= 0) return by_id;
  }
  const { source_text } = request;
  if (source_text !== undefined) {
    const traced = source_text.trim();
    const same = cells.flatMap((cell, index) => (cell.text.trim() === traced ? [index] : []));
    const again = same.find((index) => cells[index]?.execution_count === request.cell);
    const found = again ?? same[0];
    if (found !== undefined) return found;
  }
  if (request.cell === undefined) return -1;
  return cells.findIndex((cell) => cell.execution_count === request.cell);
}

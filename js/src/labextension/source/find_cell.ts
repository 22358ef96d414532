import { findLine, likeness } from "./line_now.ts";
import type { OpenSourceRequest } from "./request.ts";

/** The parts of a cell that are used to find a cell. */
export interface CellText {
  readonly id: string;
  readonly execution_count: number | null;
  readonly text: string;
}

/** A cell of the notebook, and the line (from 1) in its current text. */
export interface CellLine {
  readonly index: number;
  /** Undefined if the cell was edited and does not have the line any more. */
  readonly line: number | undefined;
  readonly isChanged: boolean;
}

/**
 * The share of its lines that an edited cell must still have. With less, it may be another cell.
 */
const LEAST_LIKENESS = 0.5;

/** Finds the cell and line of a request; `null` if the cell is not in this notebook. */
export function findCell(cells: readonly CellText[], request: OpenSourceRequest): CellLine | null {
  const index = findIndex(cells, request);
  const cell = cells[index];
  if (cell === undefined) return null;
  const lines = tracedLines(request);
  if (lines === undefined) {
    const above = cell.text.split("\n").findIndex((line) => line.trim() !== "");
    return { index, line: request.line + Math.max(above, 0), isChanged: false };
  }
  const found = findLine({ lines, firstLine: 1, isWhole: true }, request.line, cell.text);
  return { index, line: found?.line, isChanged: found?.isChanged ?? true };
}

function tracedLines({ source_text }: OpenSourceRequest): string[] | undefined {
  const lines = source_text?.split("\n");
  const first = lines?.findIndex((line) => line.trim() !== "") ?? -1;
  return lines?.slice(Math.max(first, 0));
}

/**
 * Index of the cell of a request, or -1.
 *
 * The id of a cell survives saving, edits and a new kernel. The text survives a new kernel, but not
 * an edit. The execution count survives an edit, but after a restart, or in another notebook, it
 * may belong to another cell. So the count only chooses among cells that have all or most of the
 * traced text.
 */
function findIndex(cells: readonly CellText[], request: OpenSourceRequest): number {
  if (request.cell_id !== undefined) {
    const by_id = cells.findIndex((cell) => cell.id === request.cell_id);
    if (by_id >= 0) return by_id;
  }
  if (request.cell === undefined) return -1;
  const isCounted = (cell: CellText | undefined) => cell?.execution_count === request.cell;
  const traced = request.source_text?.trim();
  const lines = tracedLines(request);
  if (traced === undefined || lines === undefined) return cells.findIndex(isCounted);
  const same = cells.flatMap((cell, index) => (cell.text.trim() === traced ? [index] : []));
  const found = same.find((index) => isCounted(cells[index])) ?? same[0];
  if (found !== undefined) return found;
  const alike = cells
    .map((cell, index) => ({ index, likeness: likeness(lines, cell.text) }))
    .filter((cell) => cell.likeness >= LEAST_LIKENESS);
  const most = Math.max(...alike.map((cell) => cell.likeness));
  const likest = alike.filter((cell) => cell.likeness === most);
  const counted = likest.find(({ index }) => isCounted(cells[index]));
  // If several edited copies have the same likeness, choose none.
  return (counted ?? (likest.length === 1 ? likest[0] : undefined))?.index ?? -1;
}

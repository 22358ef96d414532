import type { NotebookPanel } from "@jupyterlab/notebook";
import { flash, markLine } from "./mark_line.ts";

/**
 * Scrolls to a cell, puts the cursor on one of its lines, and marks the cell and the line for a
 * short time.
 *
 * @param line the line from 1; undefined for none
 * @param words the note next to the line
 */
export async function revealCell(
  panel: NotebookPanel,
  index: number,
  line: number | undefined,
  words: string,
): Promise<void> {
  const cell = panel.content.widgets[index];
  if (cell === undefined) return;
  panel.content.activeCellIndex = index;
  cell.inputHidden = false;
  await panel.content.scrollToCell(cell, "center");
  // A cell that is far out of view gets its editor only after it was scrolled into view.
  await cell.ready;
  flash(cell.node, "paddle-lab-cell-flash");
  if (cell.editor === null || line === undefined) return;
  panel.content.mode = "edit";
  await markLine(cell.editor, line, words);
}

import type { Cell, CellEditor, NotebookPanel } from "@jupyterlab/notebook";

/** How long the marks stay, ms; the selection stays. The animations in `flash.css` last as long. */
const FLASH_MS = 2400;

/** Scrolls to a cell, puts the cursor on a line (from 1) of it, and marks both for a moment. */
export async function revealCell(panel: NotebookPanel, index: number, line: number): Promise<void> {
  const cell = panel.content.widgets[index];
  if (cell === undefined) return;
  panel.content.activeCellIndex = index;
  cell.inputHidden = false;
  await panel.content.scrollToCell(cell, "center");
  // Cells far out of view have no editor until they are scrolled to.
  await cell.ready;
  flash(cell.node, "paddle-lab-cell-flash");
  const editor = cell.editor;
  if (editor === null) return;
  const row = Math.min(line, editor.lineCount) - 1;
  panel.content.mode = "edit";
  editor.focus();
  editor.setSelection({
    start: { line: row, column: 0 },
    end: { line: row, column: editor.getLine(row)?.length ?? 0 },
  });
  editor.revealPosition({ line: row, column: 0 });
  markLine(cell, editor, row);
}

function flash(node: HTMLElement, name: string): void {
  node.classList.remove(name);
  // Reading the width ends the running animation, so that a second click is seen again.
  void node.offsetWidth;
  node.classList.add(name);
  setTimeout(() => node.classList.remove(name), FLASH_MS);
}

/** A band over the line. CodeMirror owns its lines and takes classes set on them off again. */
function markLine(cell: Cell, editor: CellEditor, row: number): void {
  const area = cell.inputArea?.node;
  const at = editor.getCoordinateForPosition({ line: row, column: 0 });
  if (area === undefined || at === null) return;
  for (const old of area.querySelectorAll(".paddle-lab-line-flash")) old.remove();
  const host = editor.host.getBoundingClientRect();
  const band = document.createElement("div");
  band.className = "paddle-lab-line-flash";
  band.style.top = `${at.top - host.top}px`;
  band.style.height = `${Math.max(at.bottom - at.top, editor.lineHeight)}px`;
  editor.host.append(band);
  setTimeout(() => band.remove(), FLASH_MS);
}

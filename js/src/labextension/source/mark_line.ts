import type { CellEditor, NotebookPanel } from "@jupyterlab/notebook";

/**
 * How long marks stay, in ms. Animations in `flash.css` take the same time. The selection stays.
 */
const FLASH_MS = 2400;
/** How long a note stays, in ms: long enough to read it. */
const WORDS_MS = 8000;

/** Marks an element for a short time. */
export function flash(node: HTMLElement, name: string): void {
  node.classList.remove(name);
  // Reading the width restarts the animation, so that a second click has a visible effect.
  void node.offsetWidth;
  node.classList.add(name);
  setTimeout(() => node.classList.remove(name), FLASH_MS);
}

/**
 * Selects a line (from 1) in an editor, and shows a band over the line, with `words` at its end.
 */
export async function markLine(editor: CellEditor, line: number, words: string): Promise<void> {
  const row = Math.min(line, editor.lineCount) - 1;
  editor.focus();
  editor.setSelection({
    start: { line: row, column: 0 },
    end: { line: row, column: editor.getLine(row)?.length ?? 0 },
  });
  editor.revealPosition({ line: row, column: 0 });
  // CodeMirror scrolls in the next frame of the page.
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const at = editor.getCoordinateForPosition({ line: row, column: 0 });
  // CodeMirror owns the elements of lines, and removes classes that other code sets on them.
  for (const old of editor.host.querySelectorAll(".paddle-lab-line-flash")) old.remove();
  if (at === null) return;
  const host = editor.host.getBoundingClientRect();
  const band = document.createElement("div");
  band.className = "paddle-lab-line-flash";
  band.style.top = `${at.top - host.top}px`;
  band.style.height = `${Math.max(at.bottom - at.top, editor.lineHeight)}px`;
  if (words) {
    const note = document.createElement("span");
    note.setAttribute("role", "status");
    note.textContent = words;
    band.classList.add("paddle-lab-line-told");
    band.append(note);
  }
  editor.host.append(band);
  // Typing and scrolling move the line, but not the mark.
  for (const moving of ["keydown", "scroll"]) {
    editor.host.addEventListener(moving, () => band.remove(), { once: true, capture: true });
  }
  setTimeout(() => band.remove(), words ? WORDS_MS : FLASH_MS);
}

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

/** Keeps keys that are pressed in the view from being commands of the notebook around it. */

/** Lumino, under JupyterLab and Notebook, leaves keys alone whose target carries it. */
const SUPPRESS = "data-lm-suppress-shortcuts";

/**
 * JupyterLab answers single keys (b: new cell, x: cut the cell) wherever in a notebook the focus is, before
 * any listener of ours. Shift+Enter and keys with Ctrl, such as Ctrl+S, stay the notebook's.
 *
 * @returns what ends it
 */
export function keepNotebookKeysAway(app: HTMLElement): () => void {
  const mark = (event: KeyboardEvent): void => {
    const target = event.target as Element;
    if (!(target instanceof Element) || !app.contains(target)) return;
    const isField = target.matches("input, select");
    const isOurs =
      event.ctrlKey || event.metaKey || event.altKey
        ? /^[zy]$/i.test(event.key)
        : isField || event.key !== "Enter" || !event.shiftKey;
    if (isOurs) target.setAttribute(SUPPRESS, "true");
    else target.removeAttribute(SUPPRESS);
  };
  // Only what listens on the window comes before what listens on the document.
  window.addEventListener("keydown", mark, true);
  return () => window.removeEventListener("keydown", mark, true);
}

/** Stops the notebook from using keys that are pressed in the view as its own commands. */

/** Lumino, used by JupyterLab and Notebook, ignores keys whose target has this attribute. */
const SUPPRESS = "data-lm-suppress-shortcuts";

/**
 * JupyterLab handles single keys (b: new cell, x: cut the cell) anywhere in a notebook before the
 * view receives them. This keeps them for the view. Shift+Enter and keys with Ctrl, such as Ctrl+S,
 * still go to the notebook.
 *
 * @returns a function that undoes this
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
  // Listeners on the window run before listeners on the document.
  window.addEventListener("keydown", mark, true);
  return () => window.removeEventListener("keydown", mark, true);
}

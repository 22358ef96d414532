/** The message shown instead of a view that failed. */

/** Show a message in place of the view. */
export function showFailure(root: HTMLElement, error: unknown): void {
  const box = document.createElement("div");
  box.className = "pdl-error";
  box.setAttribute("role", "alert");
  box.textContent = error instanceof Error ? error.message : String(error);
  root.replaceChildren(box);
}

/** The message in place of a view that failed. */

/** A readable box in place of a blank. */
export function showFailure(root: HTMLElement, error: unknown): void {
  const box = document.createElement("div");
  box.className = "pdl-error";
  box.setAttribute("role", "alert");
  box.textContent = error instanceof Error ? error.message : String(error);
  root.replaceChildren(box);
}

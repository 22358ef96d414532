/** Adds the styles of views to pages that do not have them. */

/** Add styles to the page, once for each `id`. */
export function installStyle(css: string, id: string): void {
  if (document.getElementById(id) !== null) return;
  const style = document.createElement("style");
  style.id = id;
  style.textContent = css;
  document.head.append(style);
}

const STYLE_ID = "paddle-lab-live-style";

/** Put the chart's styles into the page, once. */
export function installStyle(css: string): void {
  if (document.getElementById(STYLE_ID) !== null) return;
  const style = document.createElement("style");
  style.id = STYLE_ID;
  style.textContent = css;
  document.head.append(style);
}

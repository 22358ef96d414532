/** The views' styles, for doors whose page does not bring them. */
import css from "built-widget.css";

const STYLE_ID = "paddle-lab-style";

/** Put the styles into the page, once. */
export function installStyle(): void {
  if (document.getElementById(STYLE_ID) === null) {
    const style = document.createElement("style");
    style.id = STYLE_ID;
    style.textContent = css;
    document.head.append(style);
  }
}

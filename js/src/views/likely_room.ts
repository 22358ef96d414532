/** How wide a picture will be that is made before there is a view to show it. */

/** As in the style sheets: the panel stands beside the picture, or below it where there is less room. */
const PANEL_PX = 360;
const LARGEST_PANEL_SHARE = 0.34;
const NARROW_PX = 820;

let last_px = 0;

/** A view has this width, in CSS px. */
export function rememberRoom(px: number): void {
  last_px = px;
}

/** As wide as the last one, or as this page has room for. */
export function likelyRoom(): number {
  if (last_px) {
    return last_px;
  }
  // In JupyterLab outputs are as wide as the cells' editors.
  const whole = document.querySelector(".jp-InputArea-editor")?.clientWidth || window.innerWidth;
  return whole < NARROW_PX ? whole : whole - Math.min(PANEL_PX, whole * LARGEST_PANEL_SHARE);
}

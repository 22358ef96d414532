/** Draws the frame of an open group. */

import { t } from "../../words/page.ts";
import type { SceneFrame } from "../scene/scene.ts";
import { TITLE_HEIGHT_PX } from "../scene/scene_index.ts";
import type { Extent } from "../scene/spatial_index.ts";
import { refoldRoom, TITLE_END_PX, TITLE_GAP_PX } from "../scene/title_room.ts";
import { FRAME_RADIUS_PX, fillOfFrame, GROUP_TEXT_PX, strokeOfFrame } from "./drawing_style.ts";
import type { Brush } from "./paint.ts";

/** On screen; a title stays this large when the rest is too small to read. */
const TITLE_PX = 12;
const OVERVIEW_TITLE_PX = 11;
const LEAST_TITLE_PX = 6.4;

export function paintFrame(brush: Brush, frame: SceneFrame): void {
  const { context, theme, emphasis } = brush;
  const left = frame.x - frame.width / 2;
  const top = frame.y - frame.height / 2;
  const isSelected = emphasis.isFrameSelected(frame);
  const stroke = strokeOfFrame(frame, theme);
  context.beginPath();
  context.roundRect(left, top, frame.width, frame.height, FRAME_RADIUS_PX);
  context.fillStyle = fillOfFrame(frame, theme);
  context.fill();
  context.strokeStyle = isSelected ? theme.select : stroke.colour;
  context.lineWidth = isSelected ? 2 : stroke.width;
  context.setLineDash(isSelected ? [] : [...stroke.dash]);
  context.stroke();
  context.setLineDash([]);
  if (frame.kind === "pylayer") {
    context.beginPath();
    context.roundRect(left + 3, top + 3, frame.width - 6, frame.height - 6, FRAME_RADIUS_PX - 3);
    context.stroke();
  }
}

/** The title strip: above edges, which pass behind it. */
export function paintFrameTitle(brush: Brush, frame: SceneFrame, area: Extent): void {
  const { camera } = brush;
  const left = frame.x - frame.width / 2;
  const top = frame.y - frame.height / 2;
  // Below the readable scale titles keep their size on screen, where there is room for them.
  const isSmall = TITLE_PX * camera.scale < LEAST_TITLE_PX;
  const grow = isSmall ? OVERVIEW_TITLE_PX / (TITLE_PX * camera.scale) : 1;
  if (grow === 1 || (frame.width * camera.scale > 90 && frame.height * camera.scale > 60)) {
    paintTitle(brush, frame, left, top, grow, area);
  }
}

function paintTitle(
  { context, theme, measure, camera }: Brush,
  frame: SceneFrame,
  left: number,
  top: number,
  grow: number,
  area: Extent,
): void {
  if (TITLE_PX * camera.scale * grow < 6) {
    return;
  }
  context.save();
  // A title stays in sight while its frame is.
  const dx = Math.max(0, Math.min(area.left - left, frame.width - 160 * grow));
  context.translate(left + dx, top);
  context.scale(grow, grow);
  const y = TITLE_HEIGHT_PX / 2 + 1;
  const refold = frame.refold && grow === 1 ? t("box.refold", { what: frame.refold }) : "";
  const beside = refold ? refoldRoom(frame.refold, measure) : 0;
  const room = frame.width / grow - GROUP_TEXT_PX - TITLE_END_PX - dx / grow - beside;
  const title = measure.fit(frame.title, "title", room);
  const used = measure.width(title, "title") + TITLE_GAP_PX;
  const fitting = measure.fit(frame.subtitle, "sublabel", room - used);
  const subtitle = fitting.length > 2 ? fitting : "";
  const end = GROUP_TEXT_PX + used + (subtitle ? measure.width(subtitle, "sublabel") : -4);
  context.fillStyle = fillOfFrame(frame, theme);
  // Edges that pass behind the title stay visible, faintly.
  context.globalAlpha = 0.82;
  context.fillRect(GROUP_TEXT_PX - 3, y - 8, end - GROUP_TEXT_PX + 7, 16);
  context.globalAlpha = 1;
  paintChevron(context, 14, y, true, theme.soft);
  context.textBaseline = "middle";
  context.textAlign = "start";
  context.font = measure.font("title");
  context.fillStyle = theme.ink;
  context.fillText(title, GROUP_TEXT_PX, y);
  if (subtitle) {
    context.font = measure.font("sublabel");
    context.fillStyle = theme.soft;
    context.fillText(subtitle, GROUP_TEXT_PX + used, y);
  }
  if (refold) {
    context.textAlign = "end";
    context.font = measure.font("sublabel");
    context.fillStyle = theme.forward;
    context.fillText(refold, frame.width - dx - 10, y);
  }
  context.restore();
}

/** The sign for open (pointing down) and closed (pointing right). */
export function paintChevron(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  isOpen: boolean,
  colour: string,
): void {
  context.beginPath();
  if (isOpen) {
    context.moveTo(x - 3.5, y - 2);
    context.lineTo(x, y + 1.8);
    context.lineTo(x + 3.5, y - 2);
  } else {
    context.moveTo(x - 1.8, y - 3.5);
    context.lineTo(x + 2, y);
    context.lineTo(x - 1.8, y + 3.5);
  }
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.lineCap = "round";
  context.lineJoin = "round";
  context.stroke();
  context.lineCap = "butt";
}

/** Draws the frame of an open group. */

import { t } from "../../words/page.ts";
import {
  FRAME_RADIUS_PX,
  fillOfFrame,
  GROUP_TEXT_PX,
  strokeOfFrame,
} from "../scene/drawing_style.ts";
import type { Extent } from "../scene/extent.ts";
import type { SceneFrame } from "../scene/scene.ts";
import { TITLE_HEIGHT_PX } from "../scene/scene_index.ts";
import { refoldRoom, TITLE_END_PX, TITLE_GAP_PX } from "../scene/title_room.ts";
import { type Brush, fillPath, paintChevron, strokePath, traceRectangle, write } from "./brush.ts";
import type { TitlePlaces } from "./title_places.ts";

/** Sizes on screen. A title stays readable even when the rest is too small to read. */
const TITLE_PX = 12;
const OVERVIEW_TITLE_PX = 11;
const LEAST_TITLE_PX = 6.4;
/** Extent of a title, from its upper left corner. */
const SIGN_PX = 9;
const TEXT_TOP_PX = 5;
const TEXT_BOTTOM_PX = 21;

export function paintFrame({ context, theme, emphasis }: Brush, frame: SceneFrame): void {
  const stroke = strokeOfFrame(frame, theme);
  const [colour, width, dash] = emphasis.isFrameSelected(frame)
    ? [theme.select, 2, []]
    : [stroke.colour, stroke.width, stroke.dash];
  traceRectangle(context, frame, FRAME_RADIUS_PX);
  fillPath(context, fillOfFrame(frame, theme));
  strokePath(context, colour, width, dash);
  if (frame.kind === "pylayer") {
    traceRectangle(context, frame, FRAME_RADIUS_PX - 3, -3);
    strokePath(context, colour, width);
  }
}

/**
 * Draw the title of a frame over the edges.
 *
 * Below the readable scale the title keeps its size on screen if there is room in the frame or
 * above it.
 */
export function paintFrameTitle(
  brush: Brush,
  frame: SceneFrame,
  area: Extent,
  places: TitlePlaces,
): void {
  const { camera } = brush;
  const left = frame.x - frame.width / 2;
  const top = frame.y - frame.height / 2;
  if (TITLE_PX * camera.scale >= LEAST_TITLE_PX) {
    const dx = stuck(frame, left, area, 1);
    const refold = frame.refold ? t("box.refold", { what: frame.refold }) : "";
    const room = frame.width - dx - refoldRoom(frame.refold, brush.measure);
    const words = titleWords(brush, frame, room, true);
    paintTitle(brush, frame, words, { x: left + dx, y: top, grow: 1 });
    const [right, y] = [left + frame.width - 10, top + TITLE_HEIGHT_PX / 2 + 1];
    if (refold) write(brush, refold, right, y, "sublabel", brush.theme.forward, "end");
    return;
  }
  const grow = OVERVIEW_TITLE_PX / (TITLE_PX * camera.scale);
  if (frame.width * camera.scale <= 90 || frame.height * camera.scale <= 60) {
    return;
  }
  const x = left + stuck(frame, left, area, grow);
  const room = (left + frame.width - x) / grow;
  for (const y of [top, top - TITLE_HEIGHT_PX * grow]) {
    for (const withDetails of [true, false]) {
      const words = titleWords(brush, frame, room, withDetails);
      const taken = {
        left: x + SIGN_PX * grow,
        right: x + words.end * grow,
        top: y + TEXT_TOP_PX * grow,
        bottom: y + TEXT_BOTTOM_PX * grow,
      };
      if (words.title === frame.title && places.take(taken)) {
        paintTitle(brush, frame, words, { x, y, grow });
        return;
      }
    }
  }
}

/** How far a title moves to the right, to stay in view while its frame is in view. */
function stuck(frame: SceneFrame, left: number, area: Extent, grow: number): number {
  return Math.max(0, Math.min(area.left - left, frame.width - 160 * grow));
}

interface TitleWords {
  readonly title: string;
  readonly subtitle: string;
  /** X of the subtitle, and of the end of the words, from the title's left side. */
  readonly subtitleX: number;
  readonly end: number;
}

function titleWords(
  { measure }: Brush,
  frame: SceneFrame,
  width: number,
  withDetails: boolean,
): TitleWords {
  const room = width - GROUP_TEXT_PX - TITLE_END_PX;
  const title = measure.fit(frame.title, "title", room);
  const used = measure.width(title, "title") + TITLE_GAP_PX;
  const fitting = withDetails ? measure.fit(frame.subtitle, "sublabel", room - used) : "";
  const subtitle = fitting.length > 2 ? fitting : "";
  const end = GROUP_TEXT_PX + used + (subtitle ? measure.width(subtitle, "sublabel") : -4);
  return { title, subtitle, subtitleX: GROUP_TEXT_PX + used, end };
}

function paintTitle(
  brush: Brush,
  frame: SceneFrame,
  { title, subtitle, subtitleX, end }: TitleWords,
  at: { x: number; y: number; grow: number },
): void {
  const { context, theme } = brush;
  context.save();
  context.translate(at.x, at.y);
  context.scale(at.grow, at.grow);
  const y = TITLE_HEIGHT_PX / 2 + 1;
  context.fillStyle = fillOfFrame(frame, theme);
  // Edges that pass behind the title stay visible, faintly.
  context.globalAlpha = 0.82;
  context.fillRect(GROUP_TEXT_PX - 3, y - 8, end - GROUP_TEXT_PX + 7, 16);
  context.globalAlpha = 1;
  paintChevron(context, 14, y, true, theme.soft);
  write(brush, title, GROUP_TEXT_PX, y, "title", theme.ink);
  if (subtitle) write(brush, subtitle, subtitleX, y, "sublabel", theme.soft);
  context.restore();
}

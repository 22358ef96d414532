/** Draws the frame of an open group. */

import { t } from "../../words/page.ts";
import {
  FRAME_RADIUS_PX,
  fillOfFrame,
  GROUP_TEXT_PX,
  strokeOfFrame,
} from "../scene/drawing_style.ts";
import type { SceneFrame } from "../scene/scene.ts";
import { TITLE_HEIGHT_PX } from "../scene/scene_index.ts";
import type { Extent } from "../scene/spatial_index.ts";
import { refoldRoom, TITLE_END_PX, TITLE_GAP_PX } from "../scene/title_room.ts";
import type { Brush } from "./brush.ts";
import type { TitlePlaces } from "./title_places.ts";

/** On screen; a title stays this large when the rest is too small to read. */
const TITLE_PX = 12;
const OVERVIEW_TITLE_PX = 11;
const LEAST_TITLE_PX = 6.4;
/** What a title takes up, from its upper left corner. */
const SIGN_PX = 9;
const TEXT_TOP_PX = 5;
const TEXT_BOTTOM_PX = 21;

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

/**
 * The title: above edges, which pass behind it.
 *
 * Below the readable scale it keeps its size on screen where there is room for it: in the frame, or else above it.
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
    paintRefold(brush, refold, left + frame.width - 10, top);
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

/** How far to the right a title goes to stay in sight while its frame is. */
function stuck(frame: SceneFrame, left: number, area: Extent, grow: number): number {
  return Math.max(0, Math.min(area.left - left, frame.width - 160 * grow));
}

interface TitleWords {
  readonly title: string;
  readonly subtitle: string;
  /** Where they begin and end, from the title's left. */
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
  { context, theme, measure }: Brush,
  frame: SceneFrame,
  { title, subtitle, subtitleX, end }: TitleWords,
  at: { x: number; y: number; grow: number },
): void {
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
  context.textBaseline = "middle";
  context.textAlign = "start";
  context.font = measure.font("title");
  context.fillStyle = theme.ink;
  context.fillText(title, GROUP_TEXT_PX, y);
  if (subtitle) {
    context.font = measure.font("sublabel");
    context.fillStyle = theme.soft;
    context.fillText(subtitle, subtitleX, y);
  }
  context.restore();
}

/** What folds a run of repeats again, at the right end of its first member's title. */
function paintRefold(
  { context, theme, measure }: Brush,
  words: string,
  right: number,
  top: number,
): void {
  if (words) {
    context.textBaseline = "middle";
    context.textAlign = "end";
    context.font = measure.font("sublabel");
    context.fillStyle = theme.forward;
    context.fillText(words, right, top + TITLE_HEIGHT_PX / 2 + 1);
  }
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

/** Draws the marks of findings on boxes and edges: signs, words, and cuts of gradients. */

import type { ColourName, Theme } from "../../dom/theme.ts";
import type { Mark, Severity } from "../../model/graph/findings.ts";
import { roleWord } from "../scene/box_marks.ts";
import { mix } from "../scene/drawing_style.ts";
import type { Scene, SceneBox, SceneEdge } from "../scene/scene.ts";
import { type Brush, fillPath, strokePath, traceRectangle, write } from "./brush.ts";

const SIGN_PX = 12;
/** The least size of a sign on screen. */
const LEAST_SIGN_PX = 11;
const PILL_HEIGHT_PX = 15;
/** How far a pill's middle is above the box's edge, so that it does not cover a group's name. */
const PILL_UP_PX = 5;
/** Distance from a box's edge to the cut through a line. */
const CUT_AWAY_PX = 11;
const STUB_PX = 20;

export const SEVERITY_COLOURS: Readonly<Record<Severity, ColourName>> = {
  error: "warn",
  warning: "caution",
  info: "soft",
};

export function colourOfMark({ finding }: Mark, theme: Theme): string {
  return theme[SEVERITY_COLOURS[finding.severity]];
}

/** Draw marks above everything else, so that no box hides the mark of another. */
export function paintMarks(brush: Brush, boxes: readonly SceneBox[], withText: boolean): void {
  for (const box of boxes) {
    const mark = brush.emphasis.marksOf(box)[0];
    if (mark && withText) {
      paintPill(brush, box, mark);
    } else if (mark && mark.role !== "path" && mark.role !== "related") {
      // When zoomed out, only the colour shows a path. Signs on all its boxes would cover it.
      const scale = Math.max(1, LEAST_SIGN_PX / SIGN_PX / brush.camera.scale);
      paintSign(brush, box.x - box.width / 2, box.y - box.height / 2, mark, scale);
    }
  }
}

/** Sign and word on the box's upper left corner. */
function paintPill(brush: Brush, box: SceneBox, mark: Mark): void {
  const { context, theme, measure } = brush;
  const word = roleWord(mark.role);
  const left = box.x - box.width / 2 - 5;
  const y = box.y - box.height / 2;
  if (!word) {
    paintSign(brush, left + 3, y, mark, 1);
    return;
  }
  const colour = colourOfMark(mark, theme);
  const width = measure.width(word, "small") + SIGN_PX + 14;
  const pill = { x: left + width / 2, y: y - PILL_UP_PX, width, height: PILL_HEIGHT_PX };
  traceRectangle(context, pill, PILL_HEIGHT_PX / 2);
  fillPath(context, theme.bg);
  strokePath(context, colour, 1.2);
  paintSign(brush, left + SIGN_PX / 2 + 3, y - PILL_UP_PX, mark, 0.9);
  write(brush, word, left + SIGN_PX + 7, y - PILL_UP_PX + 0.5, "small", colour);
}

/** One shape for each severity: an octagon with a cross, a triangle, a disc. */
function paintSign({ context, theme }: Brush, x: number, y: number, mark: Mark, scale: number) {
  const r = (SIGN_PX / 2) * scale;
  const { severity } = mark.finding;
  context.beginPath();
  if (severity === "error") {
    polygon(context, OCTAGON, x, y, r);
  } else if (severity === "warning") {
    polygon(context, TRIANGLE, x, y, r * 1.1);
  } else {
    context.roundRect(x - r, y - r, 2 * r, 2 * r, r);
  }
  fillPath(context, colourOfMark(mark, theme));
  strokePath(context, theme.bg, 1.2 * scale);
  context.beginPath();
  if (severity === "error") {
    const a = r * 0.42;
    context.moveTo(x - a, y - a);
    context.lineTo(x + a, y + a);
    context.moveTo(x + a, y - a);
    context.lineTo(x - a, y + a);
  } else {
    // An exclamation mark. Turned upside down, it is the "i" of an info.
    const up = severity === "warning" ? 1 : -1;
    const middle = severity === "warning" ? y + r * 0.15 : y;
    context.moveTo(x, middle - up * r * 0.5);
    context.lineTo(x, middle + up * r * 0.12);
    context.moveTo(x, middle + up * r * 0.38);
    context.lineTo(x, middle + up * r * 0.52);
  }
  strokePath(context, theme.bg, 1.5 * scale);
}

const OCTAGON: readonly (readonly [number, number])[] = Array.from({ length: 8 }, (_, corner) => {
  const angle = (Math.PI / 4) * (corner + 0.5);
  return [1.08 * Math.cos(angle), 1.08 * Math.sin(angle)];
});
const TRIANGLE = [
  [0, -1],
  [1.05, 0.85],
  [-1.05, 0.85],
] as const;

function polygon(
  context: CanvasRenderingContext2D,
  corners: readonly (readonly [number, number])[],
  x: number,
  y: number,
  r: number,
): void {
  corners.forEach(([dx, dy], at) => {
    if (at) context.lineTo(x + dx * r, y + dy * r);
    else context.moveTo(x + dx * r, y + dy * r);
  });
  context.closePath();
}

/**
 * Draw two strokes through every line without a gradient. A box without lines gets a short line for
 * the strokes.
 */
export function paintCuts(
  brush: Brush,
  scene: Scene,
  boxes: readonly number[],
  edges: readonly SceneEdge[],
): void {
  const { emphasis, theme } = brush;
  for (const at of boxes) {
    const box = scene.boxes[at]!;
    const ending = emphasis.endsAt(box);
    if (ending) {
      paintStub(brush, box, colourOfMark(ending, theme));
    }
    const isOne = box.op >= 0 || box.gradNode >= 0;
    const mark = isOne ? emphasis.marksOf(box).find(({ role }) => role === "cut") : undefined;
    if (!mark) {
      continue;
    }
    const colour = colourOfMark(mark, theme);
    // In a ladder, gradients come from below to the empty place of the missing grad node.
    const isGhost = box.kind === "ghost";
    const own = edges.filter((edge) => (isGhost ? edge.target : edge.source) === at);
    const detached = isGhost ? [] : own.filter(({ kind }) => kind === "detach");
    for (const { pathX, pathY } of detached.length ? detached : own) {
      const end = isGhost ? pathX.length - 1 : 0;
      const away = Math.sign(pathY[isGhost ? end - 1 : 1]! - pathY[end]! || 1) * CUT_AWAY_PX;
      paintCut(brush, pathX[end]!, pathY[end]! + away, colour);
    }
    if (!isGhost && !own.length) {
      paintStub(brush, box, colour);
    }
  }
}

function paintCut({ context, theme }: Brush, x: number, y: number, colour: string): void {
  // Erase the line between the strokes.
  context.fillStyle = theme.bg;
  context.fillRect(x - 6, y - 2.6, 12, 5.2);
  context.beginPath();
  for (const dy of [-3.2, 3.2]) {
    context.moveTo(x - 6, y + dy + 2.4);
    context.lineTo(x + 6, y + dy - 2.4);
  }
  strokePath(context, colour, 2.2);
}

function paintStub(brush: Brush, box: SceneBox, colour: string): void {
  const { context, theme } = brush;
  const bottom = box.y + box.height / 2;
  context.beginPath();
  context.moveTo(box.x, bottom);
  context.lineTo(box.x, bottom + STUB_PX);
  strokePath(context, mix(theme.bg, theme.detach, 0.95), 1.4, [2, 3]);
  paintCut(brush, box.x, bottom + CUT_AWAY_PX, colour);
}

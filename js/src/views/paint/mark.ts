/** Draws what findings say of boxes and edges: signs, words, and where a gradient is cut. */

import type { ColourName, Theme } from "../../dom/theme.ts";
import type { Mark, Severity } from "../../model/graph/findings.ts";
import { roleWord } from "../scene/box_marks.ts";
import { mix } from "../scene/drawing_style.ts";
import type { Scene, SceneBox, SceneEdge } from "../scene/scene.ts";
import type { Brush } from "./brush.ts";

const SIGN_PX = 12;
/** On screen a sign does not get smaller than this. */
const LEAST_SIGN_PX = 11;
const PILL_HEIGHT_PX = 15;
/** From a box's edge to the cut through a line. */
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

/** Above everything else, so that no box hides another's mark. */
export function paintMarks(brush: Brush, boxes: readonly SceneBox[], withText: boolean): void {
  for (const box of boxes) {
    const mark = brush.emphasis.marksOf(box)[0];
    if (mark && withText) {
      paintPill(brush, box, mark);
    } else if (mark && mark.role !== "path" && mark.role !== "related") {
      // From afar a way is told by its colour: signs at every step would cover it.
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
  context.beginPath();
  context.roundRect(left, y - PILL_HEIGHT_PX / 2 - 2, width, PILL_HEIGHT_PX, PILL_HEIGHT_PX / 2);
  context.fillStyle = theme.bg;
  context.fill();
  context.strokeStyle = colour;
  context.lineWidth = 1.2;
  context.stroke();
  paintSign(brush, left + SIGN_PX / 2 + 3, y - 2, mark, 0.9);
  context.font = measure.font("small");
  context.textBaseline = "middle";
  context.textAlign = "start";
  context.fillStyle = colour;
  context.fillText(word, left + SIGN_PX + 7, y - 1.5);
}

/** A shape a severity: an octagon with a cross, a triangle, a disc. */
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
  context.fillStyle = colourOfMark(mark, theme);
  context.fill();
  context.strokeStyle = theme.bg;
  context.lineWidth = 1.2 * scale;
  context.stroke();
  context.beginPath();
  if (severity === "error") {
    const a = r * 0.42;
    context.moveTo(x - a, y - a);
    context.lineTo(x + a, y + a);
    context.moveTo(x + a, y - a);
    context.lineTo(x - a, y + a);
  } else {
    // An exclamation mark; upside down it is an i.
    const up = severity === "warning" ? 1 : -1;
    const middle = severity === "warning" ? y + r * 0.15 : y;
    context.moveTo(x, middle - up * r * 0.5);
    context.lineTo(x, middle + up * r * 0.12);
    context.moveTo(x, middle + up * r * 0.38);
    context.lineTo(x, middle + up * r * 0.52);
  }
  context.lineWidth = 1.5 * scale;
  context.stroke();
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

/** Two strokes through every line along which no gradient comes back; a stub where there is none. */
export function paintCuts(
  brush: Brush,
  scene: Scene,
  boxes: readonly number[],
  edges: readonly SceneEdge[],
): void {
  const { emphasis, theme } = brush;
  const isCut = (at: number): Mark | undefined => {
    const box = scene.boxes[at];
    const isOne = box && (box.op >= 0 || box.gradNode >= 0);
    return isOne ? emphasis.marksOf(box).find(({ role }) => role === "cut") : undefined;
  };
  for (const at of boxes) {
    const mark = isCut(at);
    const box = scene.boxes[at]!;
    const ending = emphasis.endsAt(box);
    if (ending) {
      paintStub(brush, box, colourOfMark(ending, theme));
    }
    if (!mark) {
      continue;
    }
    const colour = colourOfMark(mark, theme);
    if (box.kind === "ghost") {
      // In a ladder gradients come up to it from below.
      for (const edge of edges.filter(({ target }) => target === at)) {
        const last = edge.pathX.length - 1;
        const from = edge.pathY[last - 1]!;
        paintCut(
          brush,
          edge.pathX[last]!,
          edge.pathY[last]! + awayTo(from, edge.pathY[last]!),
          colour,
        );
      }
      continue;
    }
    const leaving = edges.filter(({ source }) => source === at);
    const detached = leaving.filter(({ kind }) => kind === "detach");
    for (const { pathX, pathY } of detached.length ? detached : leaving) {
      paintCut(brush, pathX[0]!, pathY[0]! + awayTo(pathY[1]!, pathY[0]!), colour);
    }
    if (!leaving.length) {
      paintStub(brush, box, colour);
    }
  }
}

function awayTo(towards: number, from: number): number {
  return Math.sign(towards - from || 1) * CUT_AWAY_PX;
}

function paintCut({ context, theme }: Brush, x: number, y: number, colour: string): void {
  // The line is taken away between the strokes.
  context.fillStyle = theme.bg;
  context.fillRect(x - 6, y - 2.6, 12, 5.2);
  context.beginPath();
  for (const dy of [-3.2, 3.2]) {
    context.moveTo(x - 6, y + dy + 2.4);
    context.lineTo(x + 6, y + dy - 2.4);
  }
  context.strokeStyle = colour;
  context.lineWidth = 2.2;
  context.stroke();
}

function paintStub(brush: Brush, box: SceneBox, colour: string): void {
  const { context, theme } = brush;
  const bottom = box.y + box.height / 2;
  context.beginPath();
  context.moveTo(box.x, bottom);
  context.lineTo(box.x, bottom + STUB_PX);
  context.setLineDash([2, 3]);
  context.lineWidth = 1.4;
  context.strokeStyle = mix(theme.bg, theme.detach, 0.95);
  context.stroke();
  context.setLineDash([]);
  paintCut(brush, box.x, bottom + CUT_AWAY_PX, colour);
}

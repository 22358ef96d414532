/** Everything that painters draw with; and functions that draw rectangles and words. */

import type { Theme } from "../../dom/theme.ts";
import type { ColourInk } from "../colour/colour_ink.ts";
import type { Camera, Rectangle } from "../scene/camera.ts";
import type { Emphasis } from "../scene/emphasis.ts";
import type { TextMeasure, TextSize } from "../scene/measure.ts";
import type { NormInk } from "./norm_ink.ts";

export interface Brush {
  readonly context: CanvasRenderingContext2D;
  readonly theme: Theme;
  readonly measure: TextMeasure;
  readonly emphasis: Emphasis;
  readonly camera: Camera;
  readonly showShapes: boolean;
  readonly hovered: string;
  /** The norms of gradients, if the picture shows them. */
  readonly norms: NormInk | undefined;
  /** The colours of boxes, if these show a quantity. */
  readonly colours: ColourInk | undefined;
}

/** Distance between the lines of a hatching. */
const HATCHING_PX = 7;

type Context = CanvasRenderingContext2D;

/** Make a rectangle with round corners the current path. @param grow px added on every side */
export function traceRectangle(
  context: Context,
  { x, y, width, height }: Rectangle,
  radius: number,
  grow = 0,
): void {
  context.beginPath();
  const [left, top] = [x - width / 2 - grow, y - height / 2 - grow];
  context.roundRect(left, top, width + 2 * grow, height + 2 * grow, radius);
}

/** Make slanted lines across a rectangle the current path. */
export function traceHatching(context: Context, { x, y, width, height }: Rectangle): void {
  const [left, top] = [x - width / 2, y - height / 2];
  context.beginPath();
  for (let at = HATCHING_PX; at < width + height; at += HATCHING_PX) {
    // Each line goes up to the right, from the left or the lower side to the upper or the right one.
    context.moveTo(left + Math.max(0, at - height), top + Math.min(at, height));
    context.lineTo(left + Math.min(at, width), top + Math.max(0, at - width));
  }
}

export function fillPath(context: Context, colour: string): void {
  context.fillStyle = colour;
  context.fill();
}

export function strokePath(
  context: Context,
  colour: string,
  width: number,
  dash: readonly number[] = [],
): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash([...dash]);
  context.stroke();
  context.setLineDash([]);
}

/** Write a line of text. @param y the middle of its height */
export function write(
  { context, measure }: Pick<Brush, "context" | "measure">,
  text: string,
  x: number,
  y: number,
  size: TextSize,
  colour: string,
  align: CanvasTextAlign = "start",
): void {
  context.textBaseline = "middle";
  context.textAlign = align;
  context.font = measure.font(size);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

/** Draw the sign for open (pointing down) or closed (pointing right). */
export function paintChevron(
  context: Context,
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
  context.lineCap = "round";
  context.lineJoin = "round";
  strokePath(context, colour, 1.5);
  context.lineCap = "butt";
}

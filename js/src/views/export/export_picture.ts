/** Pictures as files: SVG or PNG. */

import { t } from "../../words/page.ts";
import {
  COLOUR_LEGEND_PX,
  COLOUR_LEGEND_WIDTH_PX,
  paintColourLegend,
} from "../colour/legend_painting.ts";
import type { Brush } from "../paint/brush.ts";
import { paint } from "../paint/paint.ts";
import { SvgContext } from "../paint/svg_context.ts";
import type { Scene } from "../scene/scene.ts";
import { SceneIndex } from "../scene/scene_index.ts";

/** The margin around the graph. It contains the column heads, the notes and the rings. */
const MARGIN_PX = 40;
/** The longest side of a picture. Browsers allow 16,384 px per side and 268 million px in total. */
const LONGEST_SIDE_PX = 16_000;
const LARGEST_AREA_PX = 200_000_000;

/** The style of a picture: its colours, and the emphasized parts. */
export type PictureStyle = Pick<
  Brush,
  "theme" | "measure" | "emphasis" | "showShapes" | "norms" | "colours"
>;

/** A picture to be exported, in CSS px. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  /** @param scale pixels of the picture per CSS px */
  paint(context: CanvasRenderingContext2D, scale: number): void;
}

export function graphDrawing(scene: Scene, style: PictureStyle, title: string): Drawing {
  const paint: Drawing["paint"] = (context, scale) => paintScene(scene, style, context, scale);
  return { ...sizeOf(scene, style), title, paint };
}

/** The text of a self-contained SVG file. */
export function svgOf({ width, height, title, paint }: Drawing): string {
  const context = new SvgContext();
  paint(context as unknown as CanvasRenderingContext2D, 1);
  return context.document(width, height, title);
}

/**
 * @param scale image pixels per CSS px; reduced if the picture would be too large to draw
 * @throws Error if the browser cannot draw the picture
 */
export function drawnPng({ width, height, paint }: Drawing, scale = 2): Promise<Blob> {
  const fitting = Math.min(
    scale,
    LONGEST_SIDE_PX / Math.max(width, height),
    Math.sqrt(LARGEST_AREA_PX / (width * height)),
  );
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * fitting);
  canvas.height = Math.round(height * fitting);
  const context = canvas.getContext("2d");
  if (context) paint(context, fitting);
  return pngOf(canvas);
}

/** @throws Error if the browser cannot draw the picture */
export async function pngOf(canvas: HTMLCanvasElement): Promise<Blob> {
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error(t("export.no_picture"));
  return blob;
}

function paintScene(
  scene: Scene,
  style: PictureStyle,
  context: CanvasRenderingContext2D,
  scale: number,
): void {
  const { width, height } = sizeOf(scene, style);
  const margin = MARGIN_PX * scale;
  const camera = { x: margin, y: margin, scale };
  const view = { width: width * scale, height: height * scale };
  const brush = { ...style, context, camera, hovered: "" };
  paint(brush, new SceneIndex(scene), view);
  if (style.colours) {
    context.save();
    context.scale(scale, scale);
    paintColourLegend(brush, style.colours, MARGIN_PX, height - COLOUR_LEGEND_PX);
    context.restore();
  }
}

function sizeOf(
  scene: Scene,
  { colours }: Pick<PictureStyle, "colours">,
): { width: number; height: number } {
  const width = Math.ceil(scene.width) + 2 * MARGIN_PX;
  return {
    width: colours ? Math.max(width, COLOUR_LEGEND_WIDTH_PX + 2 * MARGIN_PX) : width,
    height: Math.ceil(scene.height) + 2 * MARGIN_PX + (colours ? COLOUR_LEGEND_PX : 0),
  };
}

/** Draws the visible part of a scene on a canvas. */
import type { Camera, Size } from "../scene/camera.ts";
import { colourOfBox, mix } from "../scene/drawing_style.ts";
import type { Extent } from "../scene/extent.ts";
import type { Scene, SceneBox } from "../scene/scene.ts";
import type { SceneIndex } from "../scene/scene_index.ts";
import { labelExtents } from "../scene/taken.ts";
import { paintBox } from "./box.ts";
import { type Brush, strokePath, write } from "./brush.ts";
import { paintEdges } from "./edge.ts";
import { paintEdgeLabels } from "./edge_label.ts";
import { paintFrame, paintFrameTitle } from "./frame.ts";
import { paintCuts, paintMarks, SEVERITY_COLOURS } from "./mark.ts";
import { TitlePlaces } from "./title_places.ts";

/** Text smaller than this on screen is left out. */
const LEAST_TEXT_PX = 7;
/**
 * Boxes lower than this on screen are drawn as plain rectangles, all boxes of one colour at once.
 */
const LEAST_BOX_PX = 11;
/** Below this scale, cuts are not drawn through lines. Only the signs on the boxes are drawn. */
const LEAST_CUT_SCALE = 0.3;

/** @returns how many boxes are in view */
export function paint(brush: Brush, found: SceneIndex, view: Size): number {
  const { context, camera, theme } = brush;
  const { scene } = found;
  context.fillStyle = theme.bg;
  context.fillRect(0, 0, view.width, view.height);
  context.save();
  context.translate(camera.x, camera.y);
  context.scale(camera.scale, camera.scale);
  const area = areaInView(camera, view);
  const frames = found.framesIn(area).map((key) => scene.frames[key]!);
  for (const frame of frames) {
    paintFrame(brush, frame);
  }
  paintRungs(brush, scene, area);
  const edges = found.edgesIn(area).map((key) => scene.edges[key]!);
  paintEdges(brush, scene, edges, area);
  const places = new TitlePlaces(found, labelExtents(scene, brush.measure));
  for (const frame of frames) {
    paintFrameTitle(brush, frame, area, places);
  }
  const boxKeys = found.boxesIn(area);
  const boxes = boxKeys.map((key) => scene.boxes[key]!);
  const isPlain = 28 * camera.scale < LEAST_BOX_PX;
  if (isPlain) {
    paintPlainBoxes(brush, boxes);
  } else {
    for (const box of boxes) {
      paintBox(brush, box, isReadable(brush, 12.5));
    }
  }
  if (camera.scale > LEAST_CUT_SCALE) {
    paintCuts(brush, scene, boxKeys, edges);
  }
  if ((brush.showShapes || brush.norms) && isReadable(brush, 10.5)) {
    paintEdgeLabels(brush, edges, scene, frames, area);
  }
  paintMarks(brush, boxes, isReadable(brush, 10.5));
  paintLabels(brush, scene);
  context.restore();
  return boxes.length;
}

function areaInView(camera: Camera, view: Size): Extent {
  return {
    left: -camera.x / camera.scale,
    top: -camera.y / camera.scale,
    right: (view.width - camera.x) / camera.scale,
    bottom: (view.height - camera.y) / camera.scale,
  };
}

function isReadable({ camera }: Brush, fontPx: number): boolean {
  return fontPx * camera.scale >= LEAST_TEXT_PX;
}

/**
 * Draw plain boxes when zoomed out: one path per colour, without boxes that the previous box hides.
 */
function paintPlainBoxes(
  { context, theme, emphasis, camera, colours }: Brush,
  boxes: SceneBox[],
): void {
  const byColour = new Map<string, SceneBox[]>();
  for (const box of boxes) {
    const mark = emphasis.marksOf(box)[0];
    const plain = mark ? SEVERITY_COLOURS[mark.finding.severity] : colourOfBox(box);
    const name = emphasis.isSelected(box) ? "select" : plain;
    const isLit = !!mark || emphasis.isLit(box) || emphasis.isMatch(box);
    const tint = name === "select" ? undefined : colours?.fill(box, theme);
    const colour = tint ?? (isLit ? theme[name] : mix(theme.bg, theme[name], 0.5));
    const group = byColour.get(colour) ?? [];
    group.push(box);
    byColour.set(colour, group);
  }
  const pixel = 1 / camera.scale;
  for (const [colour, group] of byColour) {
    context.fillStyle = colour;
    context.beginPath();
    let [lastX, lastY] = [Number.NaN, Number.NaN];
    for (const { x, y, width, height } of group) {
      if (Math.abs(x - lastX) < pixel && Math.abs(y - lastY) < pixel) {
        continue;
      }
      [lastX, lastY] = [x, y];
      const [w, h] = [Math.max(width, pixel), Math.max(height, pixel)];
      context.rect(x - w / 2, y - h / 2, w, h);
    }
    context.fill();
  }
}

function paintRungs({ context, theme, camera }: Brush, scene: Scene, area: Extent): void {
  if (!scene.rungs.length || camera.scale < 0.2) {
    return;
  }
  context.beginPath();
  for (const { fromX, toX, y } of scene.rungs) {
    if (y >= area.top && y <= area.bottom) {
      context.moveTo(fromX, y);
      context.lineTo(toX, y);
    }
  }
  strokePath(context, mix(theme.line, theme.soft, 0.25), 1, [2, 5]);
}

function paintLabels(brush: Brush, { labels }: Scene): void {
  if (!isReadable(brush, 12)) {
    return;
  }
  for (const { text, x, y, tone, align } of labels) {
    const anchor = align === "middle" ? "center" : align;
    write(brush, text, x, y, "sublabel", brush.theme[tone], anchor);
  }
}

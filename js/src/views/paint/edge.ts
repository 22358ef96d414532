/** Draws edges, all of a style in one stroke, and the shapes beside them. */
import type { Mark } from "../../model/findings.ts";
import type { Scene, SceneEdge } from "../scene/scene.ts";
import type { Extent } from "../scene/spatial_index.ts";
import { mix, type Stroke, strokeOfEdge } from "./drawing_style.ts";
import { colourOfMark } from "./mark.ts";
import type { Brush } from "./paint.ts";
import { traceEdges } from "./shared_stretches.ts";

/** Below this scale edges have no curves and no round corners. */
const CURVE_SCALE = 0.16;
/** From afar an edge that is shorter on screen lies behind its boxes. */
const SHORTEST_PX = 0.6;
const ARROW_SCALE = 0.45;
const ARROW_PX = 5.5;
const LONGEST_LABEL_PX = 130;
const SHORTEST_LABELLED_PX = 18;
/** The way of a finding. */
const WAY_PX = 3.2;

/** @param area what is in view: of an edge that only passes it, the arrow is not drawn */
export function paintEdges(
  brush: Brush,
  scene: Scene,
  edges: SceneEdge[],
  area: Extent,
  alpha: number,
): void {
  const { context, camera, emphasis, theme, norms } = brush;
  const stroke = (edge: SceneEdge, isStrong: boolean, way: Mark | undefined, norm: string) => {
    const plain = strokeOfEdge(edge, theme, isStrong);
    if (way) {
      return { ...plain, colour: colourOfMark(way, theme), width: WAY_PX, alpha: 1 };
    }
    const weighed = norms?.stroke(plain, norm, theme) ?? plain;
    return isStrong ? { ...plain, width: Math.max(plain.width, weighed.width + 1) } : weighed;
  };
  const styles = new Map<string, { stroke: Stroke; edges: SceneEdge[] }>();
  for (const edge of edges) {
    const isStrong = emphasis.isEdgeStrong(edge, scene.boxes);
    const way = emphasis.wayAlong(edge, scene.boxes);
    const norm = norms?.classOf(edge) ?? "";
    // Strong edges lie above the others: their key comes last.
    const rank = way ? "3" : isStrong ? "2" : "1";
    const key = `${rank}${edge.kind}${edge.phase}${way?.finding.key ?? ""} ${norm}`;
    const style = styles.get(key) ?? { stroke: stroke(edge, isStrong, way, norm), edges: [] };
    style.edges.push(edge);
    styles.set(key, style);
  }
  for (const key of [...styles.keys()].sort()) {
    const { stroke, edges: alike } = styles.get(key)!;
    context.globalAlpha = stroke.alpha * alpha;
    context.strokeStyle = stroke.colour;
    // Thin lines stay visible from afar.
    context.lineWidth = Math.max(stroke.width, 0.7 / camera.scale);
    context.setLineDash([...stroke.dash]);
    context.beginPath();
    const isFar = camera.scale < CURVE_SCALE;
    traceEdges(context, alike, isFar, isFar ? SHORTEST_PX / camera.scale : 0);
    context.stroke();
    context.setLineDash([]);
    if (camera.scale >= ARROW_SCALE) {
      context.fillStyle = stroke.colour;
      context.beginPath();
      for (const edge of alike) {
        if (isWithin(edge, edge.pathX.length - 1, area, 2 * ARROW_PX)) {
          traceArrow(context, edge, stroke.width > 2.8 ? 1.5 : 1);
        }
      }
      context.fill();
    }
    context.globalAlpha = 1;
  }
}

/** Each tensor's shape once, where it leaves its box. */
export function paintEdgeLabels(
  { context, theme, measure, emphasis, norms, showShapes }: Brush,
  crossing: readonly SceneEdge[],
  boxes: Scene["boxes"],
  area: Extent,
): void {
  const edges = crossing.filter((edge) => isWithin(edge, 0, area, 1.2 * LONGEST_LABEL_PX));
  context.font = measure.font("small");
  context.textBaseline = "middle";
  context.textAlign = "start";
  const turns = new Map<number, { left: boolean; right: boolean }>();
  for (const edge of edges) {
    const turn = edge.pathX[1]! - edge.pathX[0]!;
    const known = turns.get(edge.source);
    turns.set(edge.source, {
      left: turn < 0 || known?.left === true,
      right: turn > 0 || known?.right === true,
    });
  }
  const taken = new Map<number, { from: number; to: number }[]>();
  for (const edge of edges) {
    const norm = norms?.label(edge);
    const label = [norm && `‖${norm}‖`, showShapes && edge.label].filter(Boolean).join(" ");
    if (!label || edge.pathX.length < 2 || isTooShort(edge)) {
      continue;
    }
    const text = measure.fit(label, "small", LONGEST_LABEL_PX);
    const width = measure.width(text, "small");
    const place = labelPlace(edge, width, turns.get(edge.source)!, norms ? 9 : 6);
    const range = { from: place.x - 4, to: place.x + width + 4 };
    const beside = taken.get(edge.source) ?? [];
    if (beside.some((other) => other.from < range.to && range.from < other.to)) {
      continue;
    }
    taken.set(edge.source, [...beside, range]);
    const isStrong = emphasis.isEdgeStrong(edge, boxes);
    context.fillStyle = isStrong ? theme.ink : mix(theme.bg, theme.soft, 0.9);
    context.fillText(text, place.x, place.y);
  }
}

/** Whether a point of an edge is in view, or no further away than `reach`. */
function isWithin(edge: SceneEdge, at: number, area: Extent, reach: number): boolean {
  const x = edge.pathX[at]!;
  const y = edge.pathY[at]!;
  return (
    x > area.left - reach &&
    x < area.right + reach &&
    y > area.top - reach &&
    y < area.bottom + reach
  );
}

/** Between boxes that stand close there is no room for a word. */
function isTooShort({ pathX, pathY }: SceneEdge): boolean {
  const last = pathX.length - 1;
  return Math.abs(pathY[last]! - pathY[0]!) < SHORTEST_LABELLED_PX && pathX[last] === pathX[0];
}

/** Beside the beginning of the edge, on the side to which no edge of its box turns. */
function labelPlace(
  { pathX, pathY }: SceneEdge,
  width: number,
  turns: { left: boolean; right: boolean },
  away: number,
): { x: number; y: number } {
  const [x, y] = [pathX[0]!, pathY[0]!];
  const isLeft = turns.right && (!turns.left || pathX[1]! > x);
  return { x: isLeft ? x - away - width : x + away, y: y + Math.sign(pathY[1]! - y) * 11 };
}

/** A small head at the target, along the last step. */
function traceArrow(
  context: CanvasRenderingContext2D,
  { pathX, pathY }: SceneEdge,
  grow: number,
): void {
  const last = pathX.length - 1;
  if (last < 1) {
    return;
  }
  const [x, y] = [pathX[last]!, pathY[last]!];
  const [dx, dy] = [x - pathX[last - 1]!, y - pathY[last - 1]!];
  // Slanted steps arrive vertically.
  const [ux, uy] = dy === 0 ? [Math.sign(dx), 0] : [0, Math.sign(dy)];
  const [long, half] = [ARROW_PX * grow, 3 * grow];
  context.moveTo(x, y);
  context.lineTo(x - ux * long - uy * half, y - uy * long - ux * half);
  context.lineTo(x - ux * long + uy * half, y - uy * long + ux * half);
  context.closePath();
}

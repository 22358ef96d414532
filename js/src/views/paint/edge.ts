/** Draws edges; edges of one style share one stroke. */
import type { Mark } from "../../model/graph/findings.ts";
import { type Stroke, strokeOfEdge } from "../scene/drawing_style.ts";
import type { Extent } from "../scene/extent.ts";
import type { Scene, SceneEdge } from "../scene/scene.ts";
import type { Brush } from "./brush.ts";
import { colourOfMark } from "./mark.ts";
import { traceEdges } from "./shared_stretches.ts";

/** Below this scale edges are drawn without curves and round corners. */
const CURVE_SCALE = 0.16;
/** When zoomed out, edges shorter than this on screen are not drawn, because boxes hide them. */
const SHORTEST_PX = 0.6;
const ARROW_SCALE = 0.45;
const ARROW_PX = 5.5;
/** The width of an edge on the path of a finding. */
const WAY_PX = 3.2;

/** @param area the part in view; an edge that only passes through this part has no arrow */
export function paintEdges(brush: Brush, scene: Scene, edges: SceneEdge[], area: Extent): void {
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
    // Strong edges are drawn above the others, so their key sorts last.
    const rank = way ? "3" : isStrong ? "2" : "1";
    const key = `${rank}${edge.kind}${edge.phase}${way?.finding.key ?? ""} ${norm}`;
    const style = styles.get(key) ?? { stroke: stroke(edge, isStrong, way, norm), edges: [] };
    style.edges.push(edge);
    styles.set(key, style);
  }
  for (const key of [...styles.keys()].sort()) {
    const { stroke, edges: alike } = styles.get(key)!;
    context.globalAlpha = stroke.alpha;
    context.strokeStyle = stroke.colour;
    // Keep thin lines visible when zoomed out.
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

/** Whether a point of an edge is in view, or at most `reach` outside. */
export function isWithin(edge: SceneEdge, at: number, area: Extent, reach: number): boolean {
  const x = edge.pathX[at]!;
  const y = edge.pathY[at]!;
  return (
    x > area.left - reach &&
    x < area.right + reach &&
    y > area.top - reach &&
    y < area.bottom + reach
  );
}

/** A small arrowhead at the target, in the direction of the last step. */
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
  // A slanted last step has a vertical end.
  const [ux, uy] = dy === 0 ? [Math.sign(dx), 0] : [0, Math.sign(dy)];
  const [long, half] = [ARROW_PX * grow, 3 * grow];
  context.moveTo(x, y);
  context.lineTo(x - ux * long - uy * half, y - uy * long - ux * half);
  context.lineTo(x - ux * long + uy * half, y - uy * long + ux * half);
}

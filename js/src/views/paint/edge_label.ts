/** Draws labels where edges leave their boxes: shapes of tensors, norms of gradients. */

import { fillOfFrame } from "../scene/drawing_style.ts";
import {
  edgesLeaving,
  isTooShort,
  LONGEST_LABEL_PX,
  labelPlace,
} from "../scene/edge_label_places.ts";
import { type Extent, extentOf, isInside } from "../scene/extent.ts";
import type { Scene, SceneEdge, SceneFrame } from "../scene/scene.ts";
import { type Brush, write } from "./brush.ts";
import { isWithin } from "./edge.ts";

/**
 * Draw each tensor's shape once, where the edge leaves the box that makes the tensor.
 *
 * @param frames in view, outermost first
 */
export function paintEdgeLabels(
  brush: Brush,
  crossing: readonly SceneEdge[],
  { boxes }: Scene,
  frames: readonly SceneFrame[],
  area: Extent,
): void {
  const { context, theme, measure, emphasis, norms, showShapes } = brush;
  const edges = crossing.filter((edge) => isWithin(edge, 0, area, 1.2 * LONGEST_LABEL_PX));
  const leaving = edgesLeaving(edges);
  const taken = new Map<number, { from: number; to: number; text: string }[]>();
  for (const edge of edges) {
    const norm = norms?.label(edge);
    const label = [norm && `‖${norm}‖`, showShapes && edge.label].filter(Boolean).join(" ");
    if (!label || edge.pathX.length < 2 || isTooShort(edge)) {
      continue;
    }
    const text = measure.fit(label, "small", LONGEST_LABEL_PX);
    const width = measure.width(text, "small");
    const place = labelPlace(edge, width, leaving.get(edge.source)!, norms ? 9 : 6);
    const range = { from: place.x - 4, to: place.x + width + 4, text };
    const beside = taken.get(edge.source) ?? [];
    const isSaid = ({ from, to, text: said }: typeof range): boolean =>
      (from < range.to && range.from < to) || (said === text && !norms);
    if (beside.some(isSaid)) {
      continue;
    }
    taken.set(edge.source, [...beside, range]);
    // A line behind the words stays faintly visible.
    const ground = frames.findLast((frame) => isInside(extentOf(frame), place.x, place.y));
    context.fillStyle = ground ? fillOfFrame(ground, theme) : theme.bg;
    context.globalAlpha = 0.85;
    context.fillRect(place.x - 2, place.y - 6.5, width + 4, 13);
    context.globalAlpha = 1;
    const colour = emphasis.isEdgeStrong(edge, boxes) ? theme.ink : theme.soft;
    write(brush, text, place.x, place.y, "small", colour);
  }
}

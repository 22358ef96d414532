/** Draws what edges carry, beside where they leave their boxes: shapes, and norms of gradients. */
import type { Scene, SceneEdge, SceneFrame } from "../scene/scene.ts";
import type { Extent } from "../scene/spatial_index.ts";
import { fillOfFrame, mix } from "./drawing_style.ts";
import { isWithin } from "./edge.ts";
import type { Brush } from "./paint.ts";

const LONGEST_LABEL_PX = 130;
const SHORTEST_LABELLED_PX = 18;
/** From the box to the middle of the words. */
const AWAY_PX = 11;

/**
 * Each tensor's shape once, where it leaves its box.
 *
 * @param frames in view, from the outermost in
 */
export function paintEdgeLabels(
  { context, theme, measure, emphasis, norms, showShapes }: Brush,
  crossing: readonly SceneEdge[],
  { boxes }: Scene,
  frames: readonly SceneFrame[],
  area: Extent,
): void {
  const edges = crossing.filter((edge) => isWithin(edge, 0, area, 1.2 * LONGEST_LABEL_PX));
  context.font = measure.font("small");
  context.textBaseline = "middle";
  context.textAlign = "start";
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
    if (
      beside.some(
        (it) => (it.from < range.to && range.from < it.to) || (it.text === text && !norms),
      )
    ) {
      continue;
    }
    taken.set(edge.source, [...beside, range]);
    if (place.isOnLine) {
      // A line that passes behind the words stays visible, faintly.
      const ground = frames.findLast((frame) => isInside(frame, place.x, place.y));
      context.fillStyle = ground ? fillOfFrame(ground, theme) : theme.bg;
      context.globalAlpha = 0.85;
      context.fillRect(place.x - 2, place.y - 6.5, width + 4, 13);
      context.globalAlpha = 1;
    }
    const isStrong = emphasis.isEdgeStrong(edge, boxes);
    context.fillStyle = isStrong ? theme.ink : mix(theme.bg, theme.soft, 0.9);
    context.fillText(text, place.x, place.y);
  }
}

function isInside({ x, y, width, height }: SceneFrame, atX: number, atY: number): boolean {
  return Math.abs(atX - x) <= width / 2 && Math.abs(atY - y) <= height / 2;
}

/** Between boxes that stand close there is no room for a word. */
function isTooShort({ pathX, pathY }: SceneEdge): boolean {
  const last = pathX.length - 1;
  return Math.abs(pathY[last]! - pathY[0]!) < SHORTEST_LABELLED_PX && pathX[last] === pathX[0];
}

/** The lines that leave one box: from where to where, and whether some turn to a side at once. */
interface Leaving {
  left: number;
  right: number;
  turnsLeft: boolean;
  turnsRight: boolean;
}

function edgesLeaving(edges: readonly SceneEdge[]): Map<number, Leaving> {
  const leaving = new Map<number, Leaving>();
  for (const edge of edges) {
    const x = edge.pathX[0]!;
    const turn = turnOf(edge);
    const known = leaving.get(edge.source);
    if (known) {
      known.left = Math.min(known.left, x);
      known.right = Math.max(known.right, x);
      known.turnsLeft ||= turn < 0;
      known.turnsRight ||= turn > 0;
    } else {
      leaving.set(edge.source, { left: x, right: x, turnsLeft: turn < 0, turnsRight: turn > 0 });
    }
  }
  return leaving;
}

/** To which side an edge turns where it leaves its box; a lane goes straight a little before. */
function turnOf({ pathX, pathY }: SceneEdge): number {
  const isLane = pathX.length > 2 && Math.abs(pathY[1]! - pathY[0]!) < SHORTEST_LABELLED_PX;
  return pathX[1]! - pathX[0]! || (isLane ? pathX[2]! - pathX[0]! : 0);
}

/**
 * Beside all lines that leave the box, on the side to which none of them turns. Where they turn to both, on that of
 * the edge, which passes behind it then.
 */
function labelPlace(
  edge: SceneEdge,
  width: number,
  { left, right, turnsLeft, turnsRight }: Leaving,
  away: number,
): { x: number; y: number; isOnLine: boolean } {
  const [y0, y1] = [edge.pathY[0], edge.pathY[1]];
  const toBoth = turnsLeft && turnsRight;
  const isLeft = toBoth ? turnOf(edge) < 0 : turnsRight;
  return {
    x: isLeft ? left - away - width : right + away,
    y: y0! + Math.sign(y1! - y0!) * AWAY_PX,
    isOnLine: toBoth,
  };
}

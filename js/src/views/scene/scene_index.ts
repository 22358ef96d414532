/** Finds parts of a scene by their place: to draw only visible parts, and to handle clicks. */
import { type Extent, extentOf, extentWithChips, isInside } from "./extent.ts";
import type { Scene, SceneBox, SceneChip, SceneEdge, SceneFrame } from "./scene.ts";
import { SpatialIndex } from "./spatial_index.ts";

export type Hit =
  | { kind: "box"; box: SceneBox; onToggle: boolean }
  | { kind: "chip"; box: SceneBox; chip: SceneChip }
  | { kind: "frame"; frame: SceneFrame; onToggle: boolean; onRefold: boolean }
  | { kind: "edge"; edge: SceneEdge; from: string; to: string };

/** Height of a frame's title strip, and widths of the places to click in it. */
export const TITLE_HEIGHT_PX = 24;
const TOGGLE_WIDTH_PX = 26;
const REFOLD_WIDTH_PX = 80;

export class SceneIndex {
  readonly #boxes: SpatialIndex;
  readonly #edges: SpatialIndex;
  readonly #frames: SpatialIndex;

  constructor(readonly scene: Scene) {
    this.#boxes = new SpatialIndex(scene.boxes.map(extentWithChips));
    this.#edges = new SpatialIndex(scene.edges.map(extentOfEdge));
    this.#frames = new SpatialIndex(scene.frames.map(extentOf));
  }

  boxesIn(area: Extent): number[] {
    return this.#boxes.within(area);
  }

  edgesIn(area: Extent): number[] {
    return this.#edges.within(area);
  }

  framesIn(area: Extent): number[] {
    return this.#frames.within(area);
  }

  /**
   * The part of the scene at a world point.
   *
   * @param reach how far from an edge a point still counts as on the edge, in world px
   */
  at(x: number, y: number, reach: number): Hit | undefined {
    for (const key of this.boxesIn({ left: x, right: x, top: y, bottom: y }).reverse()) {
      const box = this.scene.boxes[key]!;
      const chip = box.chips.find((at) => isInside(extentOf(at), x - box.x, y - box.y));
      if (chip) {
        return { kind: "chip", box, chip };
      }
      if (isInside(extentOf(box), x, y)) {
        const opens = box.kind === "group" || box.kind === "fold" || isGroup(box);
        return { kind: "box", box, onToggle: opens && x < box.x - box.width / 2 + TOGGLE_WIDTH_PX };
      }
    }
    const frame = this.#frameAt(x, y);
    return frame?.isTitle ? frame.hit : (this.#edgeAt(x, y, reach) ?? frame?.hit);
  }

  #frameAt(x: number, y: number): { hit: Hit; isTitle: boolean } | undefined {
    // Frames are listed outermost first.
    const key = this.framesIn({ left: x, right: x, top: y, bottom: y }).at(-1);
    if (key === undefined) {
      return undefined;
    }
    const frame = this.scene.frames[key]!;
    const { left, top, right } = extentOf(frame);
    const isTitle = y < top + TITLE_HEIGHT_PX;
    const onRefold = isTitle && !!frame.refold && x > right - REFOLD_WIDTH_PX;
    const onToggle = isTitle && x < left + TOGGLE_WIDTH_PX;
    return { hit: { kind: "frame", frame, onToggle, onRefold }, isTitle };
  }

  #edgeAt(x: number, y: number, reach: number): Hit | undefined {
    const area = { left: x - reach, right: x + reach, top: y - reach, bottom: y + reach };
    const { boxes, edges } = this.scene;
    let best = reach;
    let found: SceneEdge | undefined;
    for (const key of this.edgesIn(area)) {
      const distance = distanceTo(edges[key]!, x, y);
      if (distance <= best) {
        best = distance;
        found = edges[key]!;
      }
    }
    const label = (box: number): string => boxes[box]?.label ?? "";
    return (
      found && { kind: "edge", edge: found, from: label(found.source), to: label(found.target) }
    );
  }
}

export function isGroup(box: Pick<SceneBox, "op" | "gradNode" | "group" | "tensor">): boolean {
  return box.group >= 0 && box.op < 0 && box.gradNode < 0 && box.tensor < 0;
}

function extentOfEdge({ pathX, pathY }: SceneEdge): Extent {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < pathX.length; i++) {
    left = Math.min(left, pathX[i]!);
    right = Math.max(right, pathX[i]!);
    top = Math.min(top, pathY[i]!);
    bottom = Math.max(bottom, pathY[i]!);
  }
  return { left, right, top, bottom };
}

/** Distance from a point to an edge; slanted steps are S curves, as `traceEdge` draws them. */
function distanceTo({ pathX, pathY }: SceneEdge, x: number, y: number): number {
  let best = Infinity;
  for (let i = 1; i < pathX.length; i++) {
    const [ax, ay, bx, by] = [pathX[i - 1]!, pathY[i - 1]!, pathX[i]!, pathY[i]!];
    const steps = ax === bx || ay === by ? 1 : 12;
    let [px, py] = [ax, ay];
    for (let step = 1; step <= steps; step++) {
      const t = step / steps;
      // Both control points are at half the height: y follows the curve 1.5t − 1.5t² + t³.
      const [alongX, alongY] =
        steps === 1 ? [t, t] : [t * t * (3 - 2 * t), 1.5 * t - 1.5 * t * t + t * t * t];
      const [qx, qy] = [ax + (bx - ax) * alongX, ay + (by - ay) * alongY];
      best = Math.min(best, distanceToSegment(x, y, px, py, qx, qy));
      [px, py] = [qx, qy];
    }
  }
  return best;
}

function distanceToSegment(
  x: number,
  y: number,
  ax: number,
  ay: number,
  bx: number,
  by: number,
): number {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const t = length ? Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length)) : 0;
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}

/** What of a scene lies where: for drawing only what is seen, and for telling what was clicked. */
import { atOnce, type Steps } from "../../trace/steps.ts";
import type { Scene, SceneBox, SceneChip, SceneEdge, SceneFrame } from "./scene.ts";
import { type Extent, Extents, SpatialIndex } from "./spatial_index.ts";

export type Hit =
  | { kind: "box"; box: SceneBox; onToggle: boolean }
  | { kind: "chip"; box: SceneBox; chip: SceneChip }
  | { kind: "frame"; frame: SceneFrame; onToggle: boolean; onRefold: boolean }
  | { kind: "edge"; edge: SceneEdge; from: string; to: string };

/** Height of a frame's title strip, and where in it the sign for closing is. */
export const TITLE_HEIGHT_PX = 24;
const TOGGLE_WIDTH_PX = 26;
const REFOLD_WIDTH_PX = 80;

/** The index of each scene that has been made ready for drawing. */
const indexes = new WeakMap<Scene, SceneIndex>();

/** What is read between two pauses. */
const EXTENTS_A_STEP = 2000;

export class SceneIndex {
  readonly scene: Scene;
  readonly #boxes: SpatialIndex;
  readonly #edges: SpatialIndex;
  readonly #frames: SpatialIndex;

  constructor(scene: Scene, parts = atOnce(spatialIndexes(scene))) {
    this.scene = scene;
    [this.#boxes, this.#edges, this.#frames] = parts;
  }

  /** Make a scene's index piece by piece, for `of`. */
  static *steps(scene: Scene): Steps<void> {
    indexes.set(scene, new SceneIndex(scene, yield* spatialIndexes(scene)));
  }

  /** The scene's index: made now if it is not yet. */
  static of(scene: Scene): SceneIndex {
    return indexes.get(scene) ?? new SceneIndex(scene);
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
   * What lies at a world point.
   *
   * @param reach how far beside an edge still counts, in world px
   */
  at(x: number, y: number, reach: number): Hit | undefined {
    const point = { left: x, right: x, top: y, bottom: y };
    for (const key of this.boxesIn(point).reverse()) {
      const box = this.scene.boxes[key]!;
      const chip = box.chips.find((at) => isInside(x - box.x - at.x, y - box.y - at.y, at));
      if (chip) {
        return { kind: "chip", box, chip };
      }
      if (isInside(x - box.x, y - box.y, box)) {
        const opens = box.kind === "group" || box.kind === "fold" || isGroup(box);
        return { kind: "box", box, onToggle: opens && x < box.x - box.width / 2 + TOGGLE_WIDTH_PX };
      }
    }
    return this.#titleAt(x, y) ?? this.#edgeAt(x, y, reach) ?? this.#frameAt(x, y);
  }

  #titleAt(x: number, y: number): Hit | undefined {
    const hit = this.#frameAt(x, y);
    const isTitle =
      hit?.kind === "frame" && y < hit.frame.y - hit.frame.height / 2 + TITLE_HEIGHT_PX;
    return isTitle ? hit : undefined;
  }

  #frameAt(x: number, y: number): Hit | undefined {
    // Frames are listed from the outermost in.
    const key = this.framesIn({ left: x, right: x, top: y, bottom: y }).at(-1);
    if (key === undefined) {
      return undefined;
    }
    const frame = this.scene.frames[key]!;
    const top = frame.y - frame.height / 2;
    const left = frame.x - frame.width / 2;
    const isInTitle = y < top + TITLE_HEIGHT_PX;
    const onRefold = isInTitle && !!frame.refold && x > left + frame.width - REFOLD_WIDTH_PX;
    return { kind: "frame", frame, onToggle: isInTitle && x < left + TOGGLE_WIDTH_PX, onRefold };
  }

  #edgeAt(x: number, y: number, reach: number): Hit | undefined {
    const area = { left: x - reach, right: x + reach, top: y - reach, bottom: y + reach };
    let best = reach;
    let found: SceneEdge | undefined;
    for (const key of this.edgesIn(area)) {
      const edge = this.scene.edges[key]!;
      const distance = distanceTo(edge, x, y);
      if (distance <= best) {
        best = distance;
        found = edge;
      }
    }
    if (!found) {
      return undefined;
    }
    const [from, to] = [found.source, found.target].map(
      (box) => this.scene.boxes[box]?.label ?? "",
    );
    return { kind: "edge", edge: found, from: from!, to: to! };
  }
}

function* spatialIndexes(
  scene: Scene,
): Steps<[boxes: SpatialIndex, edges: SpatialIndex, frames: SpatialIndex]> {
  const made: SpatialIndex[] = [];
  for (const extents of [
    yield* extentsOf(scene.boxes, addBox),
    yield* extentsOf(scene.edges, addEdge),
    yield* extentsOf(scene.frames, addRectangle),
  ]) {
    yield;
    made.push(new SpatialIndex(extents));
  }
  return made as [SpatialIndex, SpatialIndex, SpatialIndex];
}

function* extentsOf<T>(
  items: readonly T[],
  add: (extents: Extents, key: number, item: T) => void,
): Steps<Extents> {
  const extents = new Extents(items.length);
  for (let key = 0; key < items.length; key++) {
    add(extents, key, items[key]!);
    if (key % EXTENTS_A_STEP === EXTENTS_A_STEP - 1) {
      yield;
    }
  }
  return extents;
}

export function isGroup(box: SceneBox): boolean {
  return box.group >= 0 && box.op < 0 && box.gradNode < 0 && box.tensor < 0;
}

function isInside(dx: number, dy: number, size: { width: number; height: number }): boolean {
  return Math.abs(dx) <= size.width / 2 && Math.abs(dy) <= size.height / 2;
}

function addRectangle(extents: Extents, key: number, at: SceneFrame): void {
  const [across, down] = [at.width / 2, at.height / 2];
  extents.set(key, at.x - across, at.y - down, at.x + across, at.y + down);
}

function addBox(extents: Extents, key: number, box: SceneBox): void {
  let left = box.x - box.width / 2;
  let right = box.x + box.width / 2;
  for (const chip of box.chips) {
    left = Math.min(left, box.x + chip.x - chip.width / 2);
    right = Math.max(right, box.x + chip.x + chip.width / 2);
  }
  extents.set(key, left, box.y - box.height / 2, right, box.y + box.height / 2);
}

function addEdge(extents: Extents, key: number, { pathX, pathY }: SceneEdge): void {
  let left = Infinity;
  let right = -Infinity;
  let top = Infinity;
  let bottom = -Infinity;
  for (let i = 0; i < pathX.length; i++) {
    left = Math.min(left, pathX[i]!);
    right = Math.max(right, pathX[i]!);
    top = Math.min(top, pathY[i]!);
    bottom = Math.max(bottom, pathY[i]!);
  }
  extents.set(key, left, top, right, bottom);
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
      const bend = steps === 1 ? t : t * t * (3 - 2 * t);
      const qx = ax + (bx - ax) * bend;
      // Both control points are at half the height: y runs as the curve 1.5t − 1.5t² + t³ does.
      const qy =
        steps === 1 ? ay + (by - ay) * t : ay + (by - ay) * (1.5 * t - 1.5 * t * t + t * t * t);
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

/** Keeps a group that was opened or closed at the same place on the screen. */
import {
  type Camera,
  panned,
  type Rectangle,
  revealing,
  type Size,
  toScreen,
} from "../scene/camera.ts";
import type { Scene } from "../scene/scene.ts";

const OPENED_MARGIN_PX = 24;

/** Two successive scenes, and an item that is in both. */
export interface Anchor {
  readonly previous: Scene;
  readonly next: Scene;
  /** Id of a box or frame. */
  readonly id: string;
}

/**
 * `at`: the camera that keeps the item's top edge in place. `goal`: the camera to move to then.
 *
 * @returns undefined if the item is not in both scenes
 */
export function anchored(
  { previous, next, id }: Anchor,
  camera: Camera,
  view: Size,
): { at: Camera; goal: Camera } | undefined {
  const [before, after] = [placeOf(previous, id), placeOf(next, id)];
  if (!before || !after) {
    return undefined;
  }
  const from = toScreen(camera, before.x, before.y - before.height / 2);
  const to = toScreen(camera, after.x, after.y - after.height / 2);
  const moved = panned(camera, from.x - to.x, from.y - to.y);
  const top = toScreen(moved, after.x, after.y - after.height / 2).y;
  const bottom = top + after.height * moved.scale;
  if (bottom < 0) {
    return { at: moved, goal: revealing(moved, after, view) };
  }
  // Show as much of the opened group as possible. It may move up to the upper edge.
  const hidden = Math.max(0, bottom + OPENED_MARGIN_PX - view.height);
  const up = Math.min(hidden, Math.max(0, top - OPENED_MARGIN_PX));
  return { at: moved, goal: panned(moved, 0, -up) };
}

/**
 * The place of an item. An open fold has the place of its first member. A first member that is
 * folded has the place of its fold.
 */
function placeOf(scene: Scene, id: string): Rectangle | undefined {
  const twin = id.replace(/^(group|fold):/, (_, kind) => (kind === "fold" ? "group:" : "fold:"));
  const all = [...scene.boxes, ...scene.frames];
  return all.find((item) => item.id === id) ?? all.find((item) => item.id === twin);
}

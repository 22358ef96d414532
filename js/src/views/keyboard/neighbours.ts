/**
 * The box that an arrow key selects. Up and down follow edges; left and right select the next box.
 */
import type { Scene, SceneBox } from "../scene/scene.ts";

export type Direction = "up" | "down" | "left" | "right";

/** Position of the next box in `direction` from box `from`, -1 if there is none. */
export function neighbour(scene: Scene, from: number, direction: Direction): number {
  const start = scene.boxes[from];
  if (!start) {
    return scene.boxes.length ? 0 : -1;
  }
  if (direction === "up" || direction === "down") {
    const along = alongEdges(scene, from, direction === "down" ? 1 : -1);
    if (along >= 0) {
      return along;
    }
  }
  return nearest(scene, start, direction);
}

/**
 * The nearest box above or below that an edge leads to. Horizontal distance counts more than
 * vertical distance.
 */
function alongEdges(scene: Scene, from: number, sign: 1 | -1): number {
  const start = scene.boxes[from]!;
  let best = Infinity;
  let found = -1;
  for (const edge of scene.edges) {
    const other = edge.source === from ? edge.target : edge.target === from ? edge.source : -1;
    const box = scene.boxes[other];
    if (box && (box.y - start.y) * sign > 0) {
      const cost = Math.abs(box.x - start.x) * 4 + Math.abs(box.y - start.y);
      if (cost < best) {
        best = cost;
        found = other;
      }
    }
  }
  return found;
}

function nearest(scene: Scene, start: SceneBox, direction: Direction): number {
  const isVertical = direction === "up" || direction === "down";
  const sign = direction === "down" || direction === "right" ? 1 : -1;
  let best = Infinity;
  let found = -1;
  scene.boxes.forEach((box, at) => {
    const ahead = sign * (isVertical ? box.y - start.y : box.x - start.x);
    const aside = Math.abs(isVertical ? box.x - start.x : box.y - start.y);
    if (ahead > 1) {
      const cost = ahead + aside * (isVertical ? 2 : 5);
      if (cost < best) {
        best = cost;
        found = at;
      }
    }
  });
  return found;
}

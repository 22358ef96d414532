/** Animates the change from one scene to the next, so that the eye can follow. */

import type { Camera, Rectangle } from "../scene/camera.ts";
import { type Extent, extentOf, touch } from "../scene/extent.ts";
import type { Scene, SceneBox, SceneFrame } from "../scene/scene.ts";
import type { Found } from "../scene/scene_index.ts";

const DURATION_MS = 150;
/**
 * Pictures with more items than this change at once, because nobody can follow thousands of moving
 * boxes.
 */
const MOST_ITEMS = 1500;

export class Transition {
  readonly #from = new Map<string, Rectangle>();
  readonly #to: Scene;
  readonly #start_ms: number;

  /** @returns undefined if the change is better shown at once */
  static between(from: Scene, to: Scene, now_ms: number): Transition | undefined {
    const isTooLarge = from.boxes.length + to.boxes.length > MOST_ITEMS;
    const prefersStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    return isTooLarge || prefersStill || !from.boxes.length
      ? undefined
      : new Transition(from, to, now_ms);
  }

  private constructor(from: Scene, to: Scene, start_ms: number) {
    for (const item of [...from.boxes, ...from.frames]) {
      this.#from.set(item.id, item);
    }
    this.#to = to;
    this.#start_ms = start_ms;
  }

  /** How much of the transition is done, from 0 to 1. */
  progress(now_ms: number): number {
    return Math.min(1, (now_ms - this.#start_ms) / DURATION_MS);
  }

  /**
   * The scene during the change. New items grow out of the place from which they are opened.
   *
   * @param index of the target scene, in which edges already have their places
   */
  at(progress: number, index: Found): Found {
    const eased = 1 - (1 - progress) ** 3;
    const move = <T extends SceneBox | SceneFrame>(item: T): T => {
      const from = this.#from.get(item.id);
      if (!from) {
        return item;
      }
      const between = (a: number, b: number): number => a + (b - a) * eased;
      return {
        ...item,
        x: between(from.x, item.x),
        y: between(from.y, item.y),
        width: between(from.width, item.width),
        height: between(from.height, item.height),
      };
    };
    const boxes = this.#to.boxes.map(move);
    const frames = this.#to.frames.map(move);
    return {
      scene: { ...this.#to, boxes, frames },
      boxesIn: (area) => touching(boxes, area),
      framesIn: (area) => touching(frames, area),
      edgesIn: (area) => index.edgesIn(area),
    };
  }
}

/** Chips may extend beyond their box by this much. */
const BESIDE_PX = 200;

function touching(items: readonly Rectangle[], area: Extent): number[] {
  const near = { ...area, left: area.left - BESIDE_PX, right: area.right + BESIDE_PX };
  return [...items.keys()].filter((key) => touch(extentOf(items[key]!), near));
}

/** The camera while it moves from one place to another. */
const GLIDE_MS = 180;

export class Glide {
  constructor(
    readonly from: Camera,
    readonly to: Camera,
    readonly start_ms: number,
  ) {}

  isOver(now_ms: number): boolean {
    return now_ms - this.start_ms >= GLIDE_MS;
  }

  at(now_ms: number): Camera {
    const t = Math.min(1, Math.max(0, (now_ms - this.start_ms) / GLIDE_MS));
    const eased = 1 - (1 - t) ** 3;
    const mix = (a: number, b: number): number => a + (b - a) * eased;
    return {
      x: mix(this.from.x, this.to.x),
      y: mix(this.from.y, this.to.y),
      scale: mix(this.from.scale, this.to.scale),
    };
  }
}

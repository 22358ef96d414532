/** The camera while it moves from one place to another. */

import type { Camera } from "../scene/camera.ts";

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

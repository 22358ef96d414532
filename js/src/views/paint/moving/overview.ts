/** The whole scene, small: what comes into sight while zooming out. */
import type { Camera, Size } from "../../scene/camera.ts";
import { blank, contextOf, type DrawPicture, type Kept } from "./kept.ts";

export class Overview {
  readonly #draw: DrawPicture;
  #kept: Kept | undefined;
  #isBegun = false;
  #generation = 0;

  constructor(draw: DrawPicture) {
    this.#draw = draw;
  }

  /** Undefined until all of it is drawn. */
  get kept(): Kept | undefined {
    return this.#kept;
  }

  forget(): void {
    this.#generation++;
    this.#kept = undefined;
    this.#isBegun = false;
  }

  /**
   * Draw it, unless that has begun: in strips, each in a task of its own, so that a large scene keeps
   * nobody waiting.
   *
   * @param fitting a camera that has the whole scene in a view of this size
   */
  make(fitting: Camera, view: Size, pixels: number, strips: number): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const canvas = blank(view, pixels);
    const height = Math.ceil(canvas.height / strips) / pixels;
    const strip = blank({ width: view.width, height }, pixels);
    const whole = contextOf(canvas);
    const generation = this.#generation;
    let top = 0;
    const next = (): void => {
      if (generation !== this.#generation) return;
      const context = contextOf(strip);
      context.setTransform(pixels, 0, 0, pixels, 0, 0);
      const camera = { ...fitting, y: fitting.y - top / pixels };
      this.#draw(context, camera, { width: view.width, height });
      whole.drawImage(strip, 0, top);
      top += strip.height;
      if (top < canvas.height) setTimeout(next, 0);
      else this.#kept = { canvas, camera: fitting };
    };
    next();
  }
}

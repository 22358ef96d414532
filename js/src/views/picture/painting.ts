/** What is drawn in a frame: the picture itself, or, where much is in view, what is kept of it, moved. */

import type { Theme } from "../../dom/theme.ts";
import type { Store } from "../../model/state/store.ts";
import type { Brush } from "../paint/brush.ts";
import { NormInk } from "../paint/norm_ink.ts";
import { paint, paintOneBox } from "../paint/paint.ts";
import { type Camera, fitted, fittingScale, type Size } from "../scene/camera.ts";
import { Emphasis } from "../scene/emphasis.ts";
import type { TextMeasure } from "../scene/measure.ts";
import type { SceneBox } from "../scene/scene.ts";
import type { Found } from "../scene/scene_index.ts";
import { KeptPicture } from "./kept_picture.ts";

/** A picture that has not moved for this long rests. */
const REST_MS = 50;
/** With more than this in view, what is drawn is moved (a box with text counts 1). */
const CROWDED = 260;
const WHOLE_AFTER_MS = 400;
const ITEMS_A_STRIP = 3000;

/** What is to be seen. */
export interface Sight {
  readonly found: Found;
  readonly camera: Camera;
  readonly view: Size;
  readonly hovered: SceneBox | undefined;
  /** How far the change from another scene has come, 0 to 1. */
  readonly progress: number;
}

export class Painting {
  readonly #kept: KeptPicture;
  #sight: Sight | undefined;
  #isCrowded = false;
  #painting_ms = 0;
  /** The picture is to be drawn itself, not by what has been kept of it. */
  #mustPaint = false;
  #rest: ReturnType<typeof setTimeout> | undefined;

  /** @param again asks for another frame */
  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly store: Store,
    readonly measure: TextMeasure,
    public theme: Theme,
    readonly again: () => void,
  ) {
    this.#kept = new KeptPicture((context, camera, view) => {
      const found = this.#sight?.found;
      if (found) {
        paint(this.#brush(context, camera, undefined), found, view, { isPart: true });
      }
    });
  }

  /** What the picture says has changed. */
  forget(): void {
    this.#kept.forget();
  }

  dispose(): void {
    clearTimeout(this.#rest);
  }

  draw(sight: Sight): void {
    this.#sight = sight;
    this.#matchScreen(sight.view);
    const isKept =
      this.#isCrowded &&
      sight.progress >= 1 &&
      !this.#mustPaint &&
      this.#kept.serves(sight.camera.scale);
    const isMoving = isKept && !this.#kept.isAt(sight.camera);
    this.canvas.classList.toggle("pdl-moving", isMoving);
    if (isKept) {
      this.#showKept(sight);
    } else {
      this.#paint(sight);
    }
    if (isMoving) {
      // Where drawing takes long, it must not come between two moves.
      this.#later(Math.max(REST_MS, 1.5 * this.#painting_ms), () => {
        this.#mustPaint = true;
        this.again();
      });
    }
  }

  /** Draw the picture itself. */
  #paint({ found, camera, view, hovered, progress }: Sight): void {
    this.#mustPaint = false;
    const { context, pixels } = this.#surface(view);
    context.setTransform(pixels, 0, 0, pixels, 0, 0);
    // Edges fade in at their new places, but are never all gone.
    const edgeAlpha = 0.3 + 0.7 * progress * progress;
    const emphasized = this.#isCrowded ? undefined : hovered;
    const began_ms = performance.now();
    const drawn = paint(this.#brush(context, camera, emphasized), found, view, { edgeAlpha });
    this.#isCrowded = drawn.weight > CROWDED && progress >= 1;
    if (this.#isCrowded) {
      this.#kept.keep(this.canvas, camera);
      this.#paintHovered(context, camera, pixels, hovered);
      this.#later(WHOLE_AFTER_MS, () => this.#keepWhole(found, camera, view, pixels));
    }
    this.#painting_ms = performance.now() - began_ms;
    this.canvas.dataset.inView = String(drawn.boxes);
  }

  /** Show a crowded picture from where the camera is now, by what has been drawn before. */
  #showKept({ camera, view, hovered }: Sight): void {
    const { context, pixels } = this.#surface(view);
    const shown = this.#kept.show(context, camera, pixels, this.theme.bg);
    this.#paintHovered(context, shown, pixels, hovered);
  }

  #paintHovered(
    context: CanvasRenderingContext2D,
    camera: Camera,
    pixels: number,
    hovered: SceneBox | undefined,
  ): void {
    if (hovered) {
      context.setTransform(pixels, 0, 0, pixels, camera.x * pixels, camera.y * pixels);
      context.scale(camera.scale, camera.scale);
      paintOneBox(this.#brush(context, camera, hovered), hovered);
    }
  }

  #keepWhole({ scene }: Found, camera: Camera, view: Size, pixels: number): void {
    const isWhole = camera.scale <= fittingScale(scene, view) * 1.05;
    if (!isWhole) {
      const strips = Math.ceil((scene.boxes.length + scene.edges.length) / ITEMS_A_STRIP);
      this.#kept.makeWhole(fitted(scene, view), view, pixels, strips);
    }
  }

  /** One thing is done after a while in which the picture has not moved. */
  #later(wait_ms: number, act: () => void): void {
    clearTimeout(this.#rest);
    this.#rest = setTimeout(act, wait_ms);
  }

  #surface(view: Size): { context: CanvasRenderingContext2D; pixels: number } {
    const context = this.canvas.getContext("2d", { alpha: false })!;
    return { context, pixels: this.canvas.width / view.width };
  }

  #brush(context: CanvasRenderingContext2D, camera: Camera, hovered: SceneBox | undefined): Brush {
    return {
      context,
      theme: this.theme,
      measure: this.measure,
      emphasis: new Emphasis(this.store),
      camera,
      showShapes: this.store.state.showShapes,
      hovered: hovered?.id ?? "",
      norms: NormInk.of(this.store),
    };
  }

  /** As many pixels as the screen has, which may change with the page's zoom or its window's screen. */
  #matchScreen(view: Size): void {
    const pixels = Math.min(3, window.devicePixelRatio || 1);
    const width = Math.round(view.width * pixels);
    const height = Math.round(view.height * pixels);
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.#kept.forget();
    }
  }
}

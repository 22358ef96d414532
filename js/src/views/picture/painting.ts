/** Draws a frame of the picture on its canvas. */

import type { Theme } from "../../dom/theme.ts";
import type { Store } from "../../model/state/store.ts";
import { ColourInk } from "../colour/colour_ink.ts";
import { NormInk } from "../paint/norm_ink.ts";
import { paint } from "../paint/paint.ts";
import type { Camera, Size } from "../scene/camera.ts";
import { Emphasis } from "../scene/emphasis.ts";
import type { TextMeasure } from "../scene/measure.ts";
import type { SceneIndex } from "../scene/scene_index.ts";

/** The data for one frame. */
export interface Sight {
  readonly found: SceneIndex;
  readonly camera: Camera;
  readonly view: Size;
  /** Id of the box under the pointer, "" for none. */
  readonly hovered: string;
}

export class Painting {
  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly store: Store,
    readonly measure: TextMeasure,
    public theme: Theme,
  ) {}

  draw({ found, camera, view, hovered }: Sight): void {
    // Use the screen's resolution, which changes with the page's zoom or with the screen.
    const pixels = Math.min(3, window.devicePixelRatio || 1);
    const { canvas, store, theme, measure } = this;
    const [width, height] = [Math.round(view.width * pixels), Math.round(view.height * pixels)];
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = canvas.getContext("2d", { alpha: false })!;
    context.setTransform(pixels, 0, 0, pixels, 0, 0);
    const brush = {
      context,
      theme,
      measure,
      emphasis: new Emphasis(store),
      camera,
      showShapes: store.state.showShapes,
      hovered,
      norms: NormInk.of(store),
      colours: ColourInk.of(store, found.scene),
    };
    canvas.dataset.inView = String(paint(brush, found, view));
  }
}

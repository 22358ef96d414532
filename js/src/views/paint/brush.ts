/** What every part of a picture is drawn with. */

import type { Theme } from "../../dom/theme.ts";
import type { Camera } from "../scene/camera.ts";
import type { Emphasis } from "../scene/emphasis.ts";
import type { TextMeasure } from "../scene/measure.ts";
import type { NormInk } from "./norm_ink.ts";

export interface Brush {
  readonly context: CanvasRenderingContext2D;
  readonly theme: Theme;
  readonly measure: TextMeasure;
  readonly emphasis: Emphasis;
  readonly camera: Camera;
  readonly showShapes: boolean;
  readonly hovered: string;
  /** The gradients' norms, where they are shown. */
  readonly norms: NormInk | undefined;
}

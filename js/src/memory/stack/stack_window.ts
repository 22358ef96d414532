/** The window of the timeline's picture, its size in pixels, and the picture. */
import type { BandSteps } from "./stack_band.ts";
import type { PieceColumns } from "./stack_pieces.ts";

export interface Window {
  readonly from_ns: number;
  readonly to_ns: number;
  readonly width_px: number;
  readonly height_px: number;
  /** The bytes that the whole height shows. */
  readonly height_bytes: number;
  /** The bytes that the whole height shows without zoom; by default `height_bytes`. */
  readonly whole_bytes?: number;
  /** The part of the height that is drawn, in bytes from the bottom; by default all of it. */
  readonly shown?: { readonly from_bytes: number; readonly to_bytes: number };
}

export interface StackPicture extends PieceColumns, BandSteps {
  readonly window: Window;
  /** The blocks that are drawn one by one, from the bottom up. */
  readonly drawn: Int32Array;
  /** How many blocks of the window are in the band. */
  readonly bandCount: number;
}

/** Smaller blocks are drawn as lines, not as areas. */
export const LEAST_HEIGHT_PX = 1.5;
export const LEAST_WIDTH_PX = 0.75;

/** A picture that is kept: pixels, and the camera that saw them. */
import type { Camera, Size } from "../../scene/camera.ts";

/** Draws the picture as a camera sees it into a context whose unit is a CSS px. */
export type DrawPicture = (context: CanvasRenderingContext2D, camera: Camera, view: Size) => void;

export interface Kept {
  readonly canvas: HTMLCanvasElement;
  readonly camera: Camera;
}

/** @param pixels pixels of the screen in a CSS px, in which the size is given */
export function blank(size: Size, pixels: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(size.width * pixels));
  canvas.height = Math.max(1, Math.round(size.height * pixels));
  canvas.style.width = `${canvas.width / pixels}px`;
  canvas.style.height = `${canvas.height / pixels}px`;
  return canvas;
}

export function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  return canvas.getContext("2d", { alpha: false })!;
}

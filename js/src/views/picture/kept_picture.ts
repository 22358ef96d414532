/**
 * A crowded picture on the move: its pixels are kept, and moved or scaled. While it is panned, what comes into view is
 * drawn beside them; while it is zoomed, a small picture of the whole scene lies around them. Once it rests it is drawn
 * as a whole again, sharp.
 */
import type { Camera, Size } from "../scene/camera.ts";

/** Draws the picture as a camera sees it into a context whose unit is a CSS px. */
export type DrawPicture = (context: CanvasRenderingContext2D, camera: Camera, view: Size) => void;

/** Pixels, and the camera that saw them. */
interface Kept {
  readonly canvas: HTMLCanvasElement;
  readonly camera: Camera;
}

/** A kept picture is blown up or shrunk this much at most. */
const MOST_ZOOM = 2.6;

export class KeptPicture {
  /** The picture as it was last drawn. */
  #last: Kept | undefined;
  /** The whole scene, small. */
  #whole: Kept | undefined;
  #isWholeBegun = false;
  #generation = 0;

  constructor(readonly draw: DrawPicture) {}

  /** What has been kept shows another state, or another scene. */
  forget(): void {
    this.#generation++;
    this.#last = undefined;
    this.#whole = undefined;
    this.#isWholeBegun = false;
  }

  /** Keep what the screen shows. */
  keep(screen: HTMLCanvasElement, camera: Camera): void {
    const canvas = this.#last?.canvas ?? blank(screen.width, screen.height);
    contextOf(canvas).drawImage(screen, 0, 0);
    this.#last = { canvas, camera };
  }

  /** Whether what is kept is what a camera sees. */
  isAt({ x, y, scale }: Camera): boolean {
    const at = this.#last?.camera;
    return at?.x === x && at.y === y && at.scale === scale;
  }

  /** Whether what is kept is still good enough to be shown at a scale. */
  serves(scale: number): boolean {
    const zoom = this.#last ? scale / this.#last.camera.scale : 0;
    return zoom < MOST_ZOOM && zoom > 1 / MOST_ZOOM;
  }

  /**
   * Show the kept picture as a camera sees it.
   *
   * @param pixels pixels of the screen in a CSS px
   * @returns the camera whose picture is on the screen: moved by whole pixels
   */
  show(screen: CanvasRenderingContext2D, camera: Camera, pixels: number, ground: string): Camera {
    if (isSame(camera.scale, this.#last!.camera.scale)) {
      this.#pan(camera, pixels);
    }
    const last = this.#last!;
    const place = placeOf(last.camera, camera, pixels);
    const { width, height } = screen.canvas;
    screen.setTransform(1, 0, 0, 1, 0, 0);
    if (!covers(place, last.canvas)) {
      screen.fillStyle = ground;
      screen.fillRect(0, 0, width, height);
      if (this.#whole) blit(screen, this.#whole, camera, pixels);
    }
    blit(screen, last, camera, pixels);
    return place.zoom === 1 ? last.camera : camera;
  }

  /** Move the pixels, and draw the strips that come into view. */
  #pan(camera: Camera, pixels: number): void {
    const { canvas, camera: from } = this.#last!;
    const { x: dx, y: dy } = placeOf(from, camera, pixels);
    const { width, height } = canvas;
    const context = contextOf(canvas);
    const at = { x: from.x + dx / pixels, y: from.y + dy / pixels, scale: from.scale };
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(canvas, dx, dy);
    this.#last = { canvas, camera: at };
    const [across, down] = [Math.min(width, Math.abs(dx)), Math.min(height, Math.abs(dy))];
    const strips = [
      { left: dx > 0 ? 0 : width - across, top: 0, width: across, height },
      { left: 0, top: dy > 0 ? 0 : height - down, width, height: down },
    ];
    for (const strip of strips.filter((one) => one.width && one.height)) {
      const [left, top] = [strip.left / pixels, strip.top / pixels];
      const view = { width: strip.width / pixels, height: strip.height / pixels };
      context.save();
      context.setTransform(pixels, 0, 0, pixels, strip.left, strip.top);
      context.beginPath();
      context.rect(0, 0, view.width, view.height);
      context.clip();
      this.draw(context, { ...at, x: at.x - left, y: at.y - top }, view);
      context.restore();
    }
  }

  /**
   * Draw the whole scene small, unless that has begun: in strips, each in a task of its own, so that a large scene
   * keeps nobody waiting.
   *
   * @param fitting a camera that has the whole scene in a view of this size
   */
  makeWhole(fitting: Camera, view: Size, pixels: number, strips: number): void {
    if (this.#isWholeBegun) return;
    this.#isWholeBegun = true;
    const canvas = blank(view.width * pixels, view.height * pixels);
    const context = contextOf(canvas);
    const height = Math.ceil(view.height / strips);
    const generation = this.#generation;
    let top = 0;
    const next = (): void => {
      if (generation !== this.#generation) return;
      // What reaches beyond the strip is drawn over by the next one.
      context.setTransform(pixels, 0, 0, pixels, 0, top * pixels);
      this.draw(context, { ...fitting, y: fitting.y - top }, { width: view.width, height });
      top += height;
      if (top < view.height) setTimeout(next, 0);
      else this.#whole = { canvas, camera: fitting };
    };
    next();
  }
}

/** Where what one camera saw lies for another, in pixels of the screen. */
interface Placed {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** On whole pixels. */
function placeOf(from: Camera, to: Camera, pixels: number): Placed {
  const zoom = isSame(from.scale, to.scale) ? 1 : to.scale / from.scale;
  return {
    x: Math.round((to.x - from.x * zoom) * pixels),
    y: Math.round((to.y - from.y * zoom) * pixels),
    zoom,
  };
}

/** Whether a picture as large as the screen, placed and zoomed, leaves nothing of it bare. */
function covers({ x, y, zoom }: Placed, { width, height }: HTMLCanvasElement): boolean {
  return x <= 0 && y <= 0 && x + width * zoom >= width && y + height * zoom >= height;
}

function isSame(scale: number, other: number): boolean {
  return Math.abs(scale / other - 1) < 1e-6;
}

/** Draw a kept picture where its world lies now. */
function blit(
  context: CanvasRenderingContext2D,
  { canvas, camera }: Kept,
  to: Camera,
  pixels: number,
): void {
  const { x, y, zoom } = placeOf(camera, to, pixels);
  context.imageSmoothingEnabled = zoom !== 1;
  context.imageSmoothingQuality = "low";
  context.drawImage(canvas, x, y, canvas.width * zoom, canvas.height * zoom);
}

function blank(width: number, height: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width));
  canvas.height = Math.max(1, Math.round(height));
  return canvas;
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  return canvas.getContext("2d", { alpha: false })!;
}

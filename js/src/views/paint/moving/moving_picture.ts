/**
 * A crowded picture on the move. While it is panned, what has been drawn is shifted by the browser's
 * compositor, and only what comes into view is drawn. While it is zoomed, what has been drawn is
 * scaled: into the canvas, because a compositor without a graphics card scales slower than that.
 * Once the picture rests it is drawn as a whole again, sharp.
 */

import { element } from "../../../dom/element.ts";
import type { Camera, Size } from "../../scene/camera.ts";
import type { SceneBox } from "../../scene/scene.ts";
import { type DrawBox, HoveredPart } from "./hovered_part.ts";
import { blank, contextOf, type DrawPicture, type Kept } from "./kept.ts";
import { Overview } from "./overview.ts";
import { Pieces } from "./pieces.ts";

/** A kept picture is blown up or shrunk this much at most. */
const MOST_ZOOM = 2.6;

export class MovingPicture {
  /** The whole picture as it last rested. */
  #rested: Kept | undefined;
  readonly #overview: Overview;
  readonly #pieces: Pieces;
  readonly #hovered: HoveredPart;
  /** Lies over the canvas while the picture is panned, each of its children a layer. */
  readonly #stage = element("div", { class: "pdl-moving", "aria-hidden": "true" });
  readonly #beside = element("div");

  constructor(draw: DrawPicture, drawBox: DrawBox) {
    this.#hovered = new HoveredPart(drawBox);
    this.#overview = new Overview(draw);
    this.#pieces = new Pieces(draw);
    this.#stage.append(this.#beside);
  }

  /** What has been kept shows another state, or another scene. */
  forget(): void {
    this.#rested?.canvas.remove();
    this.#rested = undefined;
    this.#overview.kept?.canvas.remove();
    this.#overview.forget();
    this.#pieces.forget();
    this.#hovered.forget();
  }

  /** Draw the whole scene small, a strip at a time: see `Overview`. */
  makeOverview(fitting: Camera, view: Size, pixels: number, strips: number): void {
    this.#overview.make(fitting, view, pixels, strips);
  }

  /** Keep what the screen shows, to move it. */
  keep(screen: HTMLCanvasElement, camera: Camera, pixels: number): void {
    const known = this.#rested?.canvas;
    const fits = known?.width === screen.width && known.height === screen.height;
    const size = { width: screen.width / pixels, height: screen.height / pixels };
    const canvas = fits ? known : blank(size, pixels);
    contextOf(canvas).drawImage(screen, 0, 0);
    this.#rested = { canvas, camera };
    this.#pieces.moveTo(this.#rested);
    if (!fits) {
      known?.remove();
      this.#stage.append(canvas);
    }
  }

  /** Whether what is kept is what a camera sees. */
  isAt(camera: Camera): boolean {
    const at = this.#rested?.camera;
    return at?.x === camera.x && at.y === camera.y && at.scale === camera.scale;
  }

  isAtScale(scale: number): boolean {
    const at = this.#rested?.camera.scale;
    return at !== undefined && isSame(scale, at);
  }

  /** Whether what is kept is still good enough to be shown at a scale. */
  serves(scale: number): boolean {
    const zoom = this.#rested ? scale / this.#rested.camera.scale : 0;
    return zoom < MOST_ZOOM && zoom > 1 / MOST_ZOOM;
  }

  /**
   * Show the kept picture over the screen, from another place at its scale.
   *
   * @param hovered the box under the pointer: it lies above the kept picture
   * @returns whether it reaches everywhere; what is missing is drawn the next time
   */
  pan(
    screen: HTMLCanvasElement,
    camera: Camera,
    view: Size,
    pixels: number,
    hovered: SceneBox | undefined,
  ): boolean {
    if (!this.#stage.parentNode) {
      screen.after(this.#stage);
    }
    const rested = this.#rested!;
    const isComplete = this.#pieces.lay(this.#beside, rested, camera, view, pixels);
    move(rested.canvas, rested.camera, camera, pixels);
    move(this.#beside, rested.camera, camera, pixels);
    const far = this.#overview.kept;
    if (far && !isComplete) {
      move(far.canvas, far.camera, camera, pixels);
      this.#stage.prepend(far.canvas);
    } else {
      far?.canvas.remove();
    }
    this.#lift(hovered, rested.camera, camera, pixels);
    return isComplete;
  }

  #lift(box: SceneBox | undefined, rested: Camera, camera: Camera, pixels: number): void {
    if (!box) {
      this.#hovered.forget();
      return;
    }
    const part = this.#hovered.of(box, rested, pixels);
    move(part.canvas, part.camera, camera, pixels);
    if (part.canvas !== this.#stage.lastChild) {
      this.#stage.append(part.canvas);
    }
  }

  /**
   * Draw the kept picture as it is seen from anywhere.
   *
   * @param pixels pixels of the screen in a CSS px
   */
  scale(
    context: CanvasRenderingContext2D,
    camera: Camera,
    pixels: number,
    background: string,
  ): void {
    const { width, height } = context.canvas;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = background;
    context.fillRect(0, 0, width, height);
    const rested = this.#rested!;
    const far = this.#overview.kept;
    if (far && !covers(placeOf(rested.camera, camera, pixels), rested.canvas, context.canvas)) {
      blit(context, far, camera, pixels);
    }
    blit(context, rested, camera, pixels);
  }

  /** Show the screen itself again. */
  hide(): void {
    this.#stage.remove();
  }
}

interface Placed {
  /** Upper left corner, in pixels of the screen. */
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** Where what one camera saw lies for another: on whole pixels. */
function placeOf(from: Camera, to: Camera, pixels: number): Placed {
  const zoom = isSame(from.scale, to.scale) ? 1 : to.scale / from.scale;
  return {
    x: Math.round((to.x - from.x * zoom) * pixels),
    y: Math.round((to.y - from.y * zoom) * pixels),
    zoom,
  };
}

/** Whether a picture, placed and zoomed, leaves nothing of the screen bare. */
function covers({ x, y, zoom }: Placed, picture: Size, screen: Size): boolean {
  return (
    x <= 0 &&
    y <= 0 &&
    x + picture.width * zoom >= screen.width &&
    y + picture.height * zoom >= screen.height
  );
}

function isSame(scale: number, other: number): boolean {
  return Math.abs(scale / other - 1) < 1e-6;
}

/** Move a layer of the page to where its world lies now. */
function move(layer: HTMLElement, from: Camera, to: Camera, pixels: number): void {
  const { x, y, zoom } = placeOf(from, to, pixels);
  layer.style.transform = `translate(${x / pixels}px, ${y / pixels}px) scale(${zoom})`;
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

/**
 * A crowded picture on the move: what has been drawn is shifted and scaled, and only what comes into view
 * is drawn anew, piece by piece. Once the picture rests it is drawn as a whole again, sharp.
 */
import type { Camera, Size } from "../camera.ts";

/** Draws the picture as a camera sees it into a context whose unit is a CSS px. */
export type DrawPicture = (context: CanvasRenderingContext2D, camera: Camera, view: Size) => void;

/** Side of a piece, in pixels of the screen. */
const PIECE_PIXELS = 384;
/** Pieces that are kept besides those in view, 600 kB each. */
const SPARE_PIECES = 48;
/** In each frame pieces are drawn for about this long, and one at least. */
const BUDGET_MS = 8;
/** A kept picture is blown up or shrunk this much at most. */
const MOST_ZOOM = 2.6;

interface Kept {
  readonly canvas: HTMLCanvasElement;
  readonly camera: Camera;
}

export class MovingPicture {
  readonly #draw: DrawPicture;
  /** The whole picture as it last rested. */
  #rested: Kept | undefined;
  /** The whole scene, small. */
  #overview: Kept | undefined;
  #isOverviewBegun = false;
  readonly #pieces = new Map<string, Kept>();
  #pieceScale = 0;
  #generation = 0;

  constructor(draw: DrawPicture) {
    this.#draw = draw;
  }

  /** What has been kept shows another state, or another scene. */
  forget(): void {
    this.#generation++;
    this.#rested = undefined;
    this.#overview = undefined;
    this.#isOverviewBegun = false;
    this.#pieces.clear();
  }

  /**
   * Draw the whole scene small, for what comes into sight while zooming out: in strips, each in a task
   * of its own, so that a large scene keeps nobody waiting.
   *
   * @param fitting a camera that has the whole scene in a view of this size
   */
  makeOverview(fitting: Camera, view: Size, pixels: number, strips: number): void {
    if (this.#isOverviewBegun) return;
    const canvas = blank(view.width * pixels, view.height * pixels);
    const height = Math.ceil(canvas.height / strips);
    const strip = blank(canvas.width, height);
    this.#isOverviewBegun = true;
    const whole = contextOf(canvas);
    const generation = this.#generation;
    let top = 0;
    const next = (): void => {
      if (generation !== this.#generation) return;
      const context = contextOf(strip);
      context.setTransform(pixels, 0, 0, pixels, 0, 0);
      const camera = { ...fitting, y: fitting.y - top / pixels };
      this.#draw(context, camera, { width: view.width, height: height / pixels });
      whole.drawImage(strip, 0, top);
      top += height;
      if (top < canvas.height) setTimeout(next, 0);
      else this.#overview = { canvas, camera: fitting };
    };
    next();
  }

  /** Keep what the screen shows, to move it. */
  keep(screen: HTMLCanvasElement, camera: Camera): void {
    const known = this.#rested?.canvas;
    const fits = known?.width === screen.width && known.height === screen.height;
    const canvas = fits ? known : blank(screen.width, screen.height);
    contextOf(canvas).drawImage(screen, 0, 0);
    this.#rested = { canvas, camera };
  }

  /** Whether what is kept is what a camera sees. */
  isAt(camera: Camera): boolean {
    const at = this.#rested?.camera;
    return at?.x === camera.x && at.y === camera.y && at.scale === camera.scale;
  }

  /** Whether what is kept is still good enough to be shown at a scale. */
  serves(scale: number): boolean {
    const zoom = this.#rested ? scale / this.#rested.camera.scale : 0;
    return zoom < MOST_ZOOM && zoom > 1 / MOST_ZOOM;
  }

  /**
   * Show the kept picture from another place.
   *
   * @param context its unit is a CSS px, `pixels` pixels of the screen
   */
  show(
    context: CanvasRenderingContext2D,
    camera: Camera,
    view: Size,
    pixels: number,
    background: string,
  ): void {
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = background;
    context.fillRect(0, 0, view.width * pixels, view.height * pixels);
    const rested = this.#rested!;
    const isPan = Math.abs(camera.scale / rested.camera.scale - 1) < 1e-6;
    if (this.#overview && !(isPan && covers(rested, camera, view, pixels))) {
      blit(context, this.#overview, camera, pixels);
    }
    blit(context, rested, camera, pixels);
    if (isPan) {
      this.#showPieces(context, camera, view, pixels);
    }
    context.restore();
  }

  /** Pieces of the scale in view, where the picture that rested does not reach. */
  #showPieces(context: CanvasRenderingContext2D, camera: Camera, view: Size, pixels: number): void {
    if (this.#pieceScale !== camera.scale) {
      this.#pieces.clear();
      this.#pieceScale = camera.scale;
    }
    const side = PIECE_PIXELS / pixels;
    const size = { width: side, height: side };
    // Pieces lie on the pixels as the picture that rested does: between the two there is no seam.
    const { x: restedX, y: restedY } = this.#rested!.camera;
    const phaseX = restedX - Math.floor(restedX * pixels) / pixels;
    const phaseY = restedY - Math.floor(restedY * pixels) / pixels;
    const left = camera.x - phaseX;
    const top = camera.y - phaseY;
    const began_ms = performance.now();
    let mayDraw = true;
    let inView = 0;
    for (let row = Math.floor(-top / side); row * side + top < view.height; row++) {
      for (let column = Math.floor(-left / side); column * side + left < view.width; column++) {
        const at = { x: phaseX - column * side, y: phaseY - row * side, scale: camera.scale };
        if (this.#isCovered(at, camera, view, size)) continue;
        const key = `${row} ${column} ${phaseX} ${phaseY}`;
        let piece = this.#pieces.get(key);
        if (!piece && mayDraw) {
          const canvas = blank(PIECE_PIXELS, PIECE_PIXELS);
          const inside = contextOf(canvas);
          inside.setTransform(pixels, 0, 0, pixels, 0, 0);
          this.#draw(inside, at, size);
          piece = { canvas, camera: at };
          mayDraw = performance.now() - began_ms < BUDGET_MS;
        }
        if (piece) {
          blit(context, piece, camera, pixels);
          // The map lists them from the one that has been out of view longest.
          this.#pieces.delete(key);
          this.#pieces.set(key, piece);
          inView++;
        }
      }
    }
    for (const key of this.#pieces.keys()) {
      if (this.#pieces.size <= inView + SPARE_PIECES) break;
      this.#pieces.delete(key);
    }
  }

  /** Whether the part of a piece that is in view lies in the picture that rested. */
  #isCovered(piece: Camera, camera: Camera, view: Size, size: Size): boolean {
    const rested = this.#rested!;
    const left = Math.max(0, camera.x - piece.x);
    const top = Math.max(0, camera.y - piece.y);
    const right = Math.min(view.width, camera.x - piece.x + size.width);
    const bottom = Math.min(view.height, camera.y - piece.y + size.height);
    const [dx, dy] = [camera.x - rested.camera.x, camera.y - rested.camera.y];
    return left >= dx && top >= dy && right <= dx + view.width && bottom <= dy + view.height;
  }
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

function covers({ camera: from, canvas }: Kept, to: Camera, view: Size, pixels: number): boolean {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const [width, height] = [canvas.width / pixels, canvas.height / pixels];
  return dx <= 0 && dy <= 0 && dx + width >= view.width && dy + height >= view.height;
}

/** Draw a kept picture where its world lies now, on whole pixels. */
function blit(
  context: CanvasRenderingContext2D,
  { canvas, camera: from }: Kept,
  to: Camera,
  pixels: number,
): void {
  const zoom = to.scale / from.scale;
  const x = Math.round((to.x - from.x * zoom) * pixels);
  const y = Math.round((to.y - from.y * zoom) * pixels);
  if (Math.abs(zoom - 1) < 1e-6) {
    context.drawImage(canvas, x, y);
    return;
  }
  context.imageSmoothingEnabled = true;
  context.imageSmoothingQuality = "low";
  context.drawImage(canvas, x, y, canvas.width * zoom, canvas.height * zoom);
}

/** What lies beside a picture that has rested, drawn piece by piece as it comes into view. */
import type { Camera, Size } from "../../scene/camera.ts";
import { blank, contextOf, type DrawPicture, type Kept } from "./kept.ts";

/** Side of a piece, in pixels of the screen. */
const PIECE_PIXELS = 384;
/** Pieces that are kept besides those in view, 600 kB each. */
const SPARE_PIECES = 48;
/** In each frame pieces are drawn for about this long, and one at least. */
const BUDGET_MS = 8;

export class Pieces {
  readonly #draw: DrawPicture;
  /** Listed from the one that has been out of view longest. */
  readonly #pieces = new Map<string, Kept>();
  #scale = 0;

  constructor(draw: DrawPicture) {
    this.#draw = draw;
  }

  forget(): void {
    for (const { canvas } of this.#pieces.values()) {
      canvas.remove();
    }
    this.#pieces.clear();
  }

  /** Let pieces lie around another picture, where they still fit it. */
  moveTo(rested: Kept): void {
    if (this.#scale !== rested.camera.scale) {
      this.forget();
      this.#scale = rested.camera.scale;
    }
    for (const piece of this.#pieces.values()) {
      place(piece, rested);
    }
  }

  /**
   * Lay the pieces that a camera sees beside a picture.
   *
   * @param sheet where the picture lies at its upper left corner
   * @param camera at the picture's scale
   * @returns whether all of them are there; others are drawn the next time
   */
  lay(sheet: HTMLElement, rested: Kept, camera: Camera, view: Size, pixels: number): boolean {
    const side = PIECE_PIXELS / pixels;
    const size = { width: side, height: side };
    // Pieces lie on the pixels as the picture that rested does: between the two there is no seam.
    const phaseX = rested.camera.x - Math.floor(rested.camera.x * pixels) / pixels;
    const phaseY = rested.camera.y - Math.floor(rested.camera.y * pixels) / pixels;
    const left = camera.x - phaseX;
    const top = camera.y - phaseY;
    const began_ms = performance.now();
    let [mayDraw, isComplete] = [true, true];
    let inView = 0;
    for (let row = Math.floor(-top / side); row * side + top < view.height; row++) {
      for (let column = Math.floor(-left / side); column * side + left < view.width; column++) {
        const at = { x: phaseX - column * side, y: phaseY - row * side, scale: camera.scale };
        if (isCovered(at, rested.camera, camera, view, size)) continue;
        const key = `${row} ${column} ${phaseX} ${phaseY}`;
        let piece = this.#pieces.get(key);
        if (!piece && mayDraw) {
          const canvas = blank(size, pixels);
          const context = contextOf(canvas);
          context.setTransform(pixels, 0, 0, pixels, 0, 0);
          this.#draw(context, at, size);
          piece = { canvas, camera: at };
          place(piece, rested);
          sheet.append(canvas);
          mayDraw = performance.now() - began_ms < BUDGET_MS;
        }
        if (piece) {
          this.#pieces.delete(key);
          this.#pieces.set(key, piece);
          inView++;
        } else {
          isComplete = false;
        }
      }
    }
    this.#dropSpare(inView);
    return isComplete;
  }

  #dropSpare(inView: number): void {
    for (const [key, { canvas }] of this.#pieces) {
      if (this.#pieces.size <= inView + SPARE_PIECES) break;
      canvas.remove();
      this.#pieces.delete(key);
    }
  }
}

function place({ canvas, camera }: Kept, rested: Kept): void {
  canvas.style.left = `${rested.camera.x - camera.x}px`;
  canvas.style.top = `${rested.camera.y - camera.y}px`;
}

/** Whether the part of a piece that is in view lies in the picture that rested. */
function isCovered(piece: Camera, rested: Camera, camera: Camera, view: Size, size: Size): boolean {
  const left = Math.max(0, camera.x - piece.x);
  const top = Math.max(0, camera.y - piece.y);
  const right = Math.min(view.width, camera.x - piece.x + size.width);
  const bottom = Math.min(view.height, camera.y - piece.y + size.height);
  const [dx, dy] = [camera.x - rested.x, camera.y - rested.y];
  return left >= dx && top >= dy && right <= dx + view.width && bottom <= dy + view.height;
}

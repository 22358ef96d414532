/** The box under the pointer, as it is to lie above a kept picture, which has it as all others are. */
import type { Camera } from "../../scene/camera.ts";
import type { SceneBox } from "../../scene/scene.ts";
import { blank, type Kept } from "./kept.ts";

/** Draws a box into a context that has the world's unit. */
export type DrawBox = (context: CanvasRenderingContext2D, camera: Camera, box: SceneBox) => void;

/** Around a box and its chips: the ring of a selection, a finding's sign, words beside it. World px. */
const MARGIN_PX = 24;
const NOTE_PX = 70;

export class HoveredPart {
  readonly #draw: DrawBox;
  #box: SceneBox | undefined;
  #rested: Camera | undefined;
  #part: Kept | undefined;

  constructor(draw: DrawBox) {
    this.#draw = draw;
  }

  forget(): void {
    this.#part?.canvas.remove();
    this.#box = undefined;
    this.#part = undefined;
  }

  /**
   * The box as a layer.
   *
   * @param rested the camera of the kept picture: the layer lies on the same pixels
   * @param pixels pixels of the screen in a CSS px
   */
  of(box: SceneBox, rested: Camera, pixels: number): Kept {
    if (this.#part && this.#box === box && this.#rested === rested) {
      return this.#part;
    }
    this.forget();
    const { scale } = rested;
    const reach = box.chips.reduce(
      (most, chip) => Math.max(most, Math.abs(chip.x) + chip.width / 2),
      box.width / 2,
    );
    const left = box.x - reach - MARGIN_PX;
    const top = box.y - box.height / 2 - MARGIN_PX;
    const width = 2 * reach + 2 * MARGIN_PX + NOTE_PX;
    const height = box.height + 2 * MARGIN_PX;
    const onPixel = (shift: number, at: number): number =>
      shift - Math.floor((shift + at * scale) * pixels) / pixels;
    const camera = { scale, x: onPixel(rested.x, left), y: onPixel(rested.y, top) };
    const canvas = blank({ width: width * scale, height: height * scale }, pixels);
    // What is around the box is the kept picture's.
    const context = canvas.getContext("2d")!;
    context.setTransform(pixels, 0, 0, pixels, camera.x * pixels, camera.y * pixels);
    context.scale(scale, scale);
    this.#draw(context, camera, box);
    this.#box = box;
    this.#rested = rested;
    this.#part = { canvas, camera };
    return this.#part;
  }
}

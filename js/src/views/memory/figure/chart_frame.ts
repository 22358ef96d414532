/**
 * The common part of the timeline, the map and the icicle: a canvas, an element over it for pointer and keys,
 * a tooltip, and at most one drawing per frame.
 */
import { element } from "../../../dom/element.ts";
import { watchTheme } from "../../../dom/theme.ts";
import { TooltipBox } from "../../tooltip_box.ts";
import { type MemoryPalette, readMemoryPalette } from "./palette.ts";

export interface ChartFrameOptions {
  /** Class of the canvas. */
  readonly canvas: string;
  /** Attributes of the element over the canvas. The element is a slider that keys move. */
  readonly pointer: Readonly<Record<string, unknown>>;
  draw(): void;
}

export class ChartFrame {
  readonly canvas: HTMLCanvasElement;
  readonly pointer: HTMLElement;
  readonly #tooltip: TooltipBox;
  readonly #ends: (() => void)[];
  #palette: MemoryPalette | undefined;
  #frame = 0;

  /** @param app the root element of the view; the tooltip stays inside this element */
  constructor(
    readonly app: HTMLElement,
    readonly options: ChartFrameOptions,
  ) {
    this.canvas = element("canvas", { class: options.canvas });
    this.pointer = element("div", {
      role: "slider",
      tabindex: 0,
      "aria-valuemin": 0,
      ...options.pointer,
    });
    this.#tooltip = new TooltipBox(app);
    const observer = new ResizeObserver(() => this.schedule());
    observer.observe(this.pointer);
    this.#ends = [
      watchTheme(() => {
        this.#palette = undefined;
        // JupyterLab hides the page until its next frame. A frame requested earlier comes first, finds no
        // size and draws nothing. No later event requests one, because the size is then the same as before.
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
        this.schedule();
      }),
      () => observer.disconnect(),
      () => cancelAnimationFrame(this.#frame),
      () => this.#tooltip.dispose(),
    ];
  }

  /** The current colours. */
  get palette(): MemoryPalette {
    this.#palette ??= readMemoryPalette(this.app);
    return this.#palette;
  }

  /** Zero while the chart is not on screen. */
  get size(): { width_px: number; height_px: number } {
    return { width_px: this.pointer.clientWidth, height_px: this.pointer.clientHeight };
  }

  /** Call these functions when the frame is disposed. */
  own(...ends: (() => void)[]): void {
    this.#ends.push(...ends);
  }

  dispose(): void {
    for (const end of this.#ends) {
      end();
    }
  }

  /** Draw with the next frame. */
  schedule(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.options.draw();
    });
  }

  /** The pointer's position, as fractions of the frame from its upper left corner. */
  placeOf(event: MouseEvent): { x: number; y: number } {
    const { left, top, width, height } = this.pointer.getBoundingClientRect();
    return { x: (event.clientX - left) / width, y: (event.clientY - top) / height };
  }

  /** Show a tooltip next to a place in the window, inside the app. */
  tell(lines: readonly string[], at: Pick<PointerEvent, "clientX" | "clientY">): void {
    const { left, top } = this.app.getBoundingClientRect();
    this.#tooltip.show(lines, at.clientX - left, at.clientY - top);
  }

  /** Hide the tooltip. */
  hush(): void {
    this.#tooltip.hide();
  }
}

/** Clear a canvas, and set its resolution to its size on the screen. Units are then CSS px. */
export function emptied(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const pixels = window.devicePixelRatio || 1;
  const context = canvas.getContext("2d")!;
  const [width, height] = [canvas.clientWidth * pixels, canvas.clientHeight * pixels].map(
    Math.round,
  );
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width!;
    canvas.height = height!;
  }
  context.reset();
  context.scale(pixels, pixels);
  return context;
}

/**
 * What the timeline and the map share: a figure, over it what takes the pointer and the keys, a tooltip,
 * and one drawing a frame however much has changed.
 */
import { element } from "../../../dom/element.ts";
import { watchTheme } from "../../../dom/theme.ts";
import { TooltipBox } from "../../tooltip_box.ts";

export interface ChartFrameOptions {
  /** Class of the element that the figure is drawn in. */
  readonly figure: string;
  /** Of the element over it; it is a slider, which keys move. */
  readonly pointer: Readonly<Record<string, unknown>>;
  /** Draw what has changed. */
  draw(): void;
  /** Other colours are in force. */
  recolour(): void;
}

export class ChartFrame {
  readonly figure: HTMLElement;
  readonly pointer: HTMLElement;
  readonly #tooltip: TooltipBox;
  readonly #ends: (() => void)[];
  #frame = 0;
  #isDisposed = false;

  /**
   * @param app the view's root, which the tooltip stays inside of
   * @param resized the figure has another size
   */
  constructor(
    readonly app: HTMLElement,
    readonly options: ChartFrameOptions,
    resized: () => void,
  ) {
    this.figure = element("div", { class: options.figure });
    this.pointer = element("div", {
      role: "slider",
      tabindex: 0,
      "aria-valuemin": 0,
      ...options.pointer,
    });
    this.#tooltip = new TooltipBox(app);
    const observer = new ResizeObserver(resized);
    observer.observe(this.pointer);
    this.#ends = [
      watchTheme(options.recolour),
      () => observer.disconnect(),
      () => cancelAnimationFrame(this.#frame),
      () => this.#tooltip.dispose(),
    ];
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  /** Zero while it is not on screen. */
  get size(): { width_px: number; height_px: number } {
    return { width_px: this.pointer.clientWidth, height_px: this.pointer.clientHeight };
  }

  /** Have something end with this; at once where it has ended. */
  own(...ends: (() => void)[]): void {
    if (this.#isDisposed) {
      for (const end of ends) {
        end();
      }
    } else {
      this.#ends.push(...ends);
    }
  }

  dispose(): void {
    this.#isDisposed = true;
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

  /** Say in the figure's place why there is none. */
  fail(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.figure.replaceChildren(element("p", { class: "pdl-timeline-failure" }, text));
  }

  /** Where the pointer is, as fractions of the frame from its upper left. */
  placeOf(event: MouseEvent): { x: number; y: number } {
    const { left, top, width, height } = this.pointer.getBoundingClientRect();
    return { x: (event.clientX - left) / width, y: (event.clientY - top) / height };
  }

  /** Beside the pointer, inside the app. */
  tell(lines: readonly string[], event: PointerEvent): void {
    const { left, top } = this.app.getBoundingClientRect();
    this.#tooltip.show(lines, event.clientX - left, event.clientY - top);
  }

  /** Take the tooltip away. */
  hush(): void {
    this.#tooltip.hide();
  }
}

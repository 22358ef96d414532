/** The figure: panels above a common time axis, and a strip of the code that ran. */
import { emptied } from "../../charts/canvas.ts";
import { element } from "../../dom/element.ts";
import type { Theme } from "../../dom/theme.ts";
import type { Panel } from "../counters/lines.ts";
import type { Series } from "../counters/samples.ts";
import { clockTicks } from "./clock.ts";
import { type Frame, paintPanel, STANDOFF_PX, TICK_PX } from "./panel_paint.ts";
import { paintStrip, type Ran } from "./strip.ts";
import type { Window } from "./time_window.ts";

/** Room for the labels of the values, and beside the frames. */
const [LEFT_PX, RIGHT_PX] = [64, 10];
const STRIP_PX = 40;
/** Room above the strip, above and below a panel, and for the times below the last panel. */
const [STRIP_TOP_PX, ABOVE_PX, BELOW_PX, AXIS_PX] = [4, 8, 6, 24];
/** Room for "14:03:12" and the space around it. */
const TIME_LABEL_PX = 96;
/** A press that moves less is a click. */
const DRAG_PX = 3;
const WHEEL_SPEED = 0.0016;

export interface FigureOptions {
  readonly theme: Theme;
  readonly panels: readonly Panel[];
  readonly height_px: number;
  /** Called when the user moved the time axis. */
  readonly onMove: (window: Window) => void;
}

/** What is drawn. Times are in ms since the sampler was made. */
export interface Picture extends Window {
  /** The offset that turns a time into local time. */
  readonly offset_ms: number;
  readonly series: Series;
  readonly cells: readonly Ran[];
  readonly layers: readonly Ran[];
  /** Counters whose lines are hidden. */
  readonly hidden: ReadonlySet<number>;
}

export class Figure {
  readonly #canvas = element("canvas", { class: "pdl-live-canvas" });
  /** The value at the top of each panel. */
  readonly #most: number[];
  readonly #resized = new ResizeObserver(() => this.#schedule());
  #picture: Picture | undefined;
  #pointer_ms: number | undefined;
  #frame = 0;

  constructor(
    readonly chart: HTMLElement,
    readonly options: FigureOptions,
  ) {
    this.#most = options.panels.map(({ unit }) => (unit === "percent" ? 105 : 1024));
    this.#canvas.style.height = `${options.height_px}px`;
    this.#canvas.addEventListener("pointerdown", (event) => this.#drag(event));
    this.#canvas.addEventListener("wheel", (event) => this.#zoom(event), { passive: false });
    chart.replaceChildren(this.#canvas);
    this.#resized.observe(this.#canvas);
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame);
    this.#resized.disconnect();
    this.#canvas.remove();
  }

  draw(picture: Picture): void {
    this.#picture = picture;
    this.options.panels.forEach(({ unit, lines }, index) => {
      if (unit !== "bytes") return;
      let largest = 0;
      for (const { counter } of lines) {
        if (picture.hidden.has(counter)) continue;
        for (const value of picture.series.values[counter] ?? []) {
          if (value > largest) largest = value;
        }
      }
      this.#fit(index, largest);
    });
    this.#schedule();
  }

  /** The time under a pointer; `undefined` outside the frames. */
  timeAt(client_x: number): number | undefined {
    if (!this.#picture) return undefined;
    const { start_ms } = this.#picture;
    const x_px = client_x - this.#canvas.getBoundingClientRect().left - LEFT_PX;
    return x_px < 0 || x_px > this.#width_px ? undefined : start_ms + x_px * this.#ms_px;
  }

  /** Draw a line through all panels at a time, or none. */
  pointAt(time_ms: number | undefined): void {
    this.#pointer_ms = time_ms;
    this.#schedule();
  }

  get #width_px(): number {
    return this.#canvas.clientWidth - LEFT_PX - RIGHT_PX;
  }

  get #ms_px(): number {
    const { start_ms, end_ms } = this.#picture!;
    return (end_ms - start_ms) / this.#width_px;
  }

  /** Fit a panel to its largest value. It grows at once but shrinks late, so that the scale is steady. */
  #fit(index: number, largest: number): void {
    const most = this.#most[index]!;
    if (largest * 1.04 > most || largest < most * 0.6) {
      this.#most[index] = Math.max(largest * 1.12, 1024);
    }
  }

  #schedule(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      if (this.#picture && this.#width_px > 0) this.#paint(this.#picture);
    });
  }

  #paint(picture: Picture): void {
    const { theme, panels, height_px } = this.options;
    const { series, hidden, start_ms, cells, layers } = picture;
    const context = emptied(this.#canvas);
    context.font = `11px ${theme.font}`;
    const [right_px, ms_px] = [LEFT_PX + this.#width_px, this.#ms_px];
    const x = (time_ms: number): number => LEFT_PX + (time_ms - start_ms) / ms_px;
    const frame = (top_px: number, bottom_px: number): Frame => {
      return { left_px: LEFT_PX, right_px, top_px, bottom_px, x };
    };
    paintStrip(context, frame(STRIP_TOP_PX, STRIP_PX), cells, layers, theme);
    const axis_px = height_px - AXIS_PX;
    const heights = panelHeights(panels, axis_px - STRIP_PX);
    let top_px = STRIP_PX;
    panels.forEach((panel, index) => {
      const isLast = index === panels.length - 1;
      const end_px = isLast ? axis_px : top_px + heights[index]!;
      const inside = frame(top_px + ABOVE_PX, isLast ? end_px : end_px - BELOW_PX);
      paintPanel(context, inside, panel, series, hidden, this.#most[index]!, theme);
      top_px = end_px;
    });
    this.#paintTimes(context, frame(axis_px, height_px), picture);
    const pointer_px = this.#pointer_ms === undefined ? -1 : x(this.#pointer_ms);
    if (pointer_px < LEFT_PX || pointer_px > right_px) return;
    context.fillStyle = theme.soft;
    context.fillRect(pointer_px - 0.5, STRIP_PX, 1, axis_px - STRIP_PX);
  }

  #paintTimes(context: CanvasRenderingContext2D, frame: Frame, picture: Picture): void {
    const { left_px, right_px, top_px, x } = frame;
    const { theme } = this.options;
    context.strokeStyle = theme.line;
    context.fillStyle = theme.soft;
    context.lineWidth = 1;
    context.textAlign = "center";
    context.textBaseline = "top";
    context.beginPath();
    context.moveTo(left_px, top_px);
    context.lineTo(right_px, top_px);
    const most = Math.max(2, Math.round(this.#width_px / TIME_LABEL_PX));
    for (const [time_ms, label] of clockTicks(picture, picture.offset_ms, most)) {
      context.moveTo(x(time_ms), top_px);
      context.lineTo(x(time_ms), top_px + TICK_PX);
      context.fillText(label, x(time_ms), top_px + TICK_PX + STANDOFF_PX);
    }
    context.stroke();
  }

  /** Move the time axis with the pointer. */
  #drag(event: PointerEvent): void {
    const canvas = this.#canvas;
    if (!this.#picture || event.button !== 0) return;
    const { start_ms, end_ms } = this.#picture;
    const ms_px = this.#ms_px;
    let isMoving = false;
    canvas.setPointerCapture(event.pointerId);
    const move = ({ clientX }: PointerEvent): void => {
      const by_px = event.clientX - clientX;
      isMoving ||= Math.abs(by_px) > DRAG_PX;
      const by_ms = by_px * ms_px;
      if (isMoving) this.options.onMove({ start_ms: start_ms + by_ms, end_ms: end_ms + by_ms });
    };
    canvas.addEventListener("pointermove", move);
    const end = (): void => canvas.removeEventListener("pointermove", move);
    canvas.addEventListener("lostpointercapture", end, { once: true });
  }

  /** Zoom around the pointer. Without Ctrl, the wheel scrolls the page. */
  #zoom(event: WheelEvent): void {
    const at_ms = this.timeAt(event.clientX);
    if (!event.ctrlKey || !this.#picture || at_ms === undefined) return;
    event.preventDefault();
    const { start_ms, end_ms } = this.#picture;
    const factor = Math.exp(event.deltaY * WHEEL_SPEED);
    this.options.onMove({
      start_ms: at_ms + (start_ms - at_ms) * factor,
      end_ms: at_ms + (end_ms - at_ms) * factor,
    });
  }
}

/** Heights of the panels; the panel of Paddle's own memory gets at least half of the height. */
function panelHeights(panels: readonly Panel[], height_px: number): number[] {
  const weights = panels.map(({ unit }, index) => (unit === "percent" ? 1 : index === 0 ? 3 : 1.6));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => Math.round((height_px * weight) / sum));
}

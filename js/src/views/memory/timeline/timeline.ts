/** The timeline: its figure, its pointer and key actions, and the picture that it shows. */
import { button, element } from "../../../dom/element.ts";
import { litAllocations } from "../../../memory/lit.ts";
import type { MemoryChoice, MemoryState } from "../../../memory/memory_state.ts";
import { hitAt, type TimelineHit } from "../../../memory/stack/hit.ts";
import type { StackPicture } from "../../../memory/stack/stack_window.ts";
import { stackBlocks } from "../../../memory/stack/stacking.ts";
import type { Store } from "../../../model/state/store.ts";
import { t } from "../../../words/page.ts";
import { formatBytes, formatDuration } from "../../../words/quantities.ts";
import { iconButton } from "../../controls.ts";
import { ChartFrame, emptied } from "../figure/chart_frame.ts";
import { paintFigure } from "../figure/figure.ts";
import { MARGINS } from "../figure/frame.ts";
import type { Marks } from "../figure/marks.ts";
import { marksOf } from "../figure/marks.ts";
import type { LitBlocks } from "../figure/stack_paint.ts";
import { memoryPicture } from "./picture.ts";
import { serves, windowFor } from "./picture_window.ts";
import { listenToTimeline, type TimelineMoves, ZOOM_STEP } from "./pointer.ts";
import { ShownWindow } from "./shown_window.ts";
import { tooltipLines } from "./tooltip.ts";

export class Timeline implements TimelineMoves {
  readonly element: HTMLElement;
  readonly #frame: ChartFrame;
  /** The chosen moment. It has an element of its own, because only it moves with the pointer. */
  readonly #moment = element("div", { class: "pdl-timeline-moment" });
  readonly #window: ShownWindow;
  /** The picture and marks of a window; they are reused while they cover the visible part. */
  #made: { readonly picture: StackPicture; readonly marks: Marks } | undefined;
  #lit: LitBlocks | undefined;

  constructor(
    readonly store: Store,
    readonly memory: MemoryState,
    app: HTMLElement,
    options: { ownsPage: boolean },
  ) {
    const { top, right, bottom, left } = MARGINS;
    this.#frame = new ChartFrame(app, {
      canvas: "pdl-timeline-figure",
      pointer: {
        class: "pdl-timeline-pointer",
        "aria-label": t("memory.moment"),
        style: `inset:${top}px ${right}px ${bottom}px ${left}px`,
      },
      draw: () => this.draw(),
    });
    this.#window = new ShownWindow(memory, () => this.#frame.schedule());
    this.#lit = this.#litBlocks();
    const { canvas, pointer } = this.#frame;
    pointer.append(this.#moment);
    this.element = element(
      "div",
      { class: "pdl-timeline" },
      element("div", { class: "pdl-timeline-main" }, canvas, pointer, this.#buttons()),
    );
    this.#frame.own(
      listenToTimeline(pointer, this, options),
      memory.subscribe((choice, previous) => {
        if (choice.place !== previous.place) {
          this.#made = undefined;
          this.#window.fit();
        }
        if (choice.place !== previous.place || choice.kind !== previous.kind) {
          this.#lit = this.#litBlocks();
          this.#frame.schedule();
        }
        this.#placeMoment();
        this.#tellMoment();
      }),
      store.subscribe((state, previous) => {
        if (state.selection !== previous.selection) {
          this.#lit = this.#litBlocks();
          this.#frame.schedule();
        }
      }),
    );
    this.#tellMoment();
  }

  #buttons(): HTMLElement {
    return element(
      "div",
      { class: "pdl-timeline-buttons" },
      iconButton("−", t("app.zoom_out"), () => this.zoomBy(1 / ZOOM_STEP)),
      iconButton("+", t("app.zoom_in"), () => this.zoomBy(ZOOM_STEP)),
      button(t("app.fit"), () => this.fit(), { title: t("memory.fit_title") }),
    );
  }

  /** Draw the shown part, if the timeline is on screen. */
  draw(): void {
    const { size } = this.#frame;
    if (!size.width_px || !size.height_px) {
      return;
    }
    const { blocks } = this.memory;
    const { shown } = this.#window;
    const on = { ...shown, ...size };
    this.element.dataset.span = `${shown.from_ns} ${shown.to_ns}`;
    if (!this.#made || !serves(this.#made.picture.window, on, blocks)) {
      const { whole_bytes, floor_bytes } = this.#window;
      const window = windowFor(on, blocks, whole_bytes - floor_bytes);
      this.#made = { picture: stackBlocks(blocks, window), marks: marksOf(this.memory, window) };
      this.element.dataset.drawn = String(this.#made.picture.drawn.length);
    }
    this.#paint();
    this.#placeMoment();
  }

  #paint(chosen?: MemoryChoice): void {
    if (!this.#made) {
      return;
    }
    const { canvas, palette, size } = this.#frame;
    const frame = { ...this.#window.shown, ...size, left_px: MARGINS.left, top_px: MARGINS.top };
    const { blocks } = this.memory;
    const figure = { ...this.#made, blocks, lit: this.#lit, ...(chosen && { chosen }) };
    paintFigure(emptied(canvas), frame, figure, palette);
  }

  #placeMoment(): void {
    const { from_ns: first_ns, to_ns: last_ns } = this.#window.shown;
    const { from_ns, to_ns } = this.memory.choice;
    const share = (time_ns: number): number => (time_ns - first_ns) / (last_ns - first_ns);
    const { style } = this.#moment;
    style.left = `${100 * share(from_ns)}%`;
    style.width = `${100 * (share(to_ns) - share(from_ns))}%`;
  }

  /** The timeline as PNG, in the form in which it is shown. */
  picture(): Promise<Blob> {
    this.#paint(this.memory.choice);
    const { canvas, palette } = this.#frame;
    const picture = memoryPicture(this.memory, canvas, palette);
    this.#paint();
    return picture;
  }

  dispose(): void {
    this.#frame.dispose();
  }

  pick(x: number, y: number): void {
    const time_ns = this.#window.timeAt(x);
    this.memory.update({ from_ns: time_ns, to_ns: time_ns });
    const hit = this.#hit(x, y);
    const row = hit?.kind === "block" ? this.memory.blocks.rows[hit.block]! : -1;
    this.store.select(row >= 0 ? { kind: "allocation", allocation: row } : { kind: "none" });
  }

  brush(from: number, to: number): void {
    const from_ns = this.#window.timeAt(Math.min(from, to));
    this.memory.update({ from_ns, to_ns: this.#window.timeAt(Math.max(from, to)) });
  }

  hover(x: number, y: number, event: PointerEvent): void {
    const hit = this.#hit(x, y);
    if (hit) {
      this.#frame.tell(tooltipLines(this.memory, hit, this.#window.timeAt(x)), event);
      this.#frame.pointer.classList.toggle("pdl-on-block", hit.kind === "block");
    }
  }

  leave(): void {
    this.#frame.hush();
  }

  zoom(x: number, y: number, factor: number, isBoth = false): void {
    this.leave();
    this.#window.zoom(x, y, factor, isBoth);
  }

  zoomBy(factor: number): void {
    this.zoom(0.5, 0.5, factor);
  }

  pan(dx: number, dy = 0): void {
    this.leave();
    this.#window.pan(dx, dy);
  }

  fit(): void {
    this.#window.fit();
  }

  step(by: number, isSpan: boolean): void {
    this.leave();
    this.#window.step(by, isSpan);
  }

  jump(to: "first" | "last" | "peak"): void {
    this.#window.jump(to);
  }

  zoomToChoice(): boolean {
    this.leave();
    return this.#window.zoomToChoice(this.store.state.selection, this.#frame.size);
  }

  /** Describe the chosen moment to screen readers. */
  #tellMoment(): void {
    const { blocks, moment } = this.memory;
    const { time_ns: at_ns, total_bytes } = moment;
    const { pointer } = this.#frame;
    const text = t("memory.alive_at", {
      size: formatBytes(total_bytes),
      time: formatDuration(Math.round(at_ns)),
    });
    pointer.setAttribute("aria-valuemax", String(Math.round(blocks.last_ns)));
    pointer.setAttribute("aria-valuenow", String(Math.round(at_ns)));
    pointer.setAttribute("aria-valuetext", text);
  }

  #litBlocks(): LitBlocks | undefined {
    const { blocks, choice } = this.memory;
    const rows = litAllocations(this.store);
    if (rows) {
      return (block) => rows[blocks.rows[block]!] === 1;
    }
    return choice.kind >= 0 ? (block) => blocks.kinds[block] === choice.kind : undefined;
  }

  #hit(x: number, y: number): TimelineHit | undefined {
    if (!this.#made) {
      return undefined;
    }
    const { from_bytes, to_bytes } = this.#window.shown;
    const height_bytes = to_bytes - y * (to_bytes - from_bytes);
    return hitAt(this.memory.blocks, this.#made.picture, this.#window.timeAt(x), height_bytes);
  }
}

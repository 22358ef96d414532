/** The timeline: figure, pointer and keys on it, and what of it is on screen. */
import { loadBokeh } from "../../charts/bokeh_loader.ts";
import { totalColumns } from "../../memory/events.ts";
import { hitAt } from "../../memory/hit.ts";
import { litAllocations } from "../../memory/lit.ts";
import { windowAround } from "../../memory/locate.ts";
import { phaseSpans, reservedSteps, stepEnds } from "../../memory/marks.ts";
import type { MemoryState } from "../../memory/memory_state.ts";
import type { StackPicture } from "../../memory/stack_window.ts";
import { stackBlocks } from "../../memory/stacking.ts";
import type { Store } from "../../model/store.ts";
import { button, element } from "../element.ts";
import { formatBytes, formatDuration } from "../panel/quantities.ts";
import { watchTheme } from "../theme.ts";
import { FRAME, type MemoryFigure, memoryFigure } from "./figure.ts";
import { readMemoryPalette } from "./palette.ts";
import { memoryPicture } from "./picture.ts";
import { listenToTimeline } from "./pointer.ts";
import type { LitBlocks } from "./stack_paint.ts";
import { placeBeside, tooltipLines } from "./tooltip.ts";

/** The picture reaches as far beyond what is on screen, so that moving need not wait for it. */
const BEYOND = 0.5;
/** A picture made for another scale serves until it is off by this factor. */
const COARSER = 1.3;
const ZOOM_STEP = 1.5;
const LEAST_SPAN_NS = 20;
const HEADROOM = 1.08;
const OVERVIEW_COLUMNS = 1000;
const LEAST_PHASE_PX = 4;
/** Ends of steps that are closer say nothing. */
const LEAST_STEP_PX = 10;

export class Timeline {
  readonly element: HTMLElement;
  readonly #main = element("div", { class: "pdl-timeline-figure" });
  readonly #overview = element("div", { class: "pdl-timeline-overview" });
  readonly #pointer: HTMLElement;
  readonly #tooltip = element("div", { class: "pdl-tooltip", role: "tooltip", hidden: true });
  readonly #app: HTMLElement;
  #figure: MemoryFigure | undefined;
  #picture: StackPicture | undefined;
  #frame = 0;
  #isDisposed = false;
  readonly #dispose: (() => void)[];

  constructor(
    readonly store: Store,
    readonly memory: MemoryState,
    app: HTMLElement,
    options: { ownsPage: boolean },
  ) {
    this.#app = app;
    this.#pointer = element("div", {
      class: "pdl-timeline-pointer",
      role: "slider",
      tabindex: 0,
      "aria-label": "Moment",
      "aria-valuemin": 0,
      style: `inset:${FRAME.top}px ${FRAME.right}px ${FRAME.bottom}px ${FRAME.left}px`,
    });
    this.element = element(
      "div",
      { class: "pdl-timeline" },
      element("div", { class: "pdl-timeline-main" }, this.#main, this.#pointer, this.#buttons()),
      this.#overview,
    );
    app.append(this.#tooltip);
    const resized = new ResizeObserver(() => this.#schedule(true));
    resized.observe(this.#pointer);
    this.#dispose = [
      listenToTimeline(this.#pointer, this, options),
      memory.subscribe((choice, previous) => {
        if (choice.place !== previous.place) {
          this.#showPlace();
        } else if (choice.kind !== previous.kind) {
          this.#light();
        }
        this.#showMoment();
      }),
      store.subscribe((state, previous) => {
        if (state.selection !== previous.selection) {
          this.#light();
        }
      }),
      watchTheme(() => this.#figure?.setTheme(readMemoryPalette(app))),
      () => resized.disconnect(),
      () => cancelAnimationFrame(this.#frame),
      () => cancelAnimationFrame(this.#lightFrame),
      () => this.#tooltip.remove(),
      () => this.#figure?.dispose(),
    ];
    this.#showMoment();
  }

  /** Resolves once it is drawn. */
  async draw(): Promise<void> {
    const roots = { main: this.#main, overview: this.#overview };
    try {
      const bokeh = await loadBokeh();
      if (this.#isDisposed) {
        return;
      }
      const figure = memoryFigure(bokeh, readMemoryPalette(this.#app));
      this.#figure = figure;
      this.#showPlace();
      this.#showMoment();
      figure.x_range.on_change(
        [figure.x_range.properties.start, figure.x_range.properties.end],
        () => this.#schedule(),
      );
      await figure.mount(roots);
    } catch (error) {
      // The table needs no figure.
      const text = error instanceof Error ? error.message : String(error);
      this.#main.replaceChildren(element("p", { class: "pdl-timeline-failure" }, text));
    }
  }

  /** The timeline as PNG, as it is shown. */
  picture(): Promise<Blob> {
    const canvases = this.#figure?.canvases() ?? [];
    return memoryPicture(this.memory, canvases, readMemoryPalette(this.#app));
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const end of this.#dispose) {
      end();
    }
  }

  // What the pointer and the keys ask for; places are fractions of the frame, from its upper left.

  timeAt(x: number): number {
    const { start, end } = this.#span;
    return start + x * (end - start);
  }

  pick(x: number, y: number): void {
    const time_ns = this.timeAt(x);
    this.memory.update({ from_ns: time_ns, to_ns: time_ns });
    const hit = this.#hit(x, y);
    const row = hit?.kind === "block" ? this.memory.blocks.rows[hit.block]! : -1;
    if (row >= 0) {
      this.store.select({ kind: "allocation", allocation: row });
    } else {
      this.store.select({ kind: "none" });
    }
  }

  brush(from: number, to: number): void {
    const [from_ns, to_ns] = [this.timeAt(Math.min(from, to)), this.timeAt(Math.max(from, to))];
    this.memory.update({ from_ns, to_ns });
  }

  hover(x: number, y: number, event: PointerEvent): void {
    const hit = this.#hit(x, y);
    if (!hit) {
      return;
    }
    const lines = tooltipLines(this.memory, hit, this.timeAt(x));
    this.#tooltip.replaceChildren(
      ...lines.map((line, i) => element("div", { class: i ? "pdl-soft" : undefined }, line)),
    );
    this.#tooltip.hidden = false;
    placeBeside(this.#tooltip, this.#app, event);
    this.#pointer.classList.toggle("pdl-on-block", hit.kind === "block");
  }

  leave(): void {
    this.#tooltip.hidden = true;
  }

  /** By `factor` around a place; of the height too where `isBoth`. */
  zoom(x: number, y: number, factor: number, isBoth = false): void {
    this.leave();
    const { start, end } = this.#span;
    const span_ns = Math.max(LEAST_SPAN_NS, (end - start) / factor);
    const from_ns = this.timeAt(x) - x * span_ns;
    this.#goTo(from_ns, from_ns + span_ns);
    if (isBoth && this.#figure) {
      const { y_range } = this.#figure;
      const whole = this.#height_bytes;
      const height = Math.min(whole, (y_range.end - y_range.start) / factor);
      const at = y_range.end - y * (y_range.end - y_range.start);
      const bottom = Math.max(0, Math.min(whole - height, at - (1 - y) * height));
      y_range.setv({ start: bottom, end: bottom + height });
      this.#schedule(true);
    }
  }

  /** By a fraction of the frame. */
  pan(dx: number, dy = 0): void {
    this.leave();
    const { start, end } = this.#span;
    const by_ns = dx * (end - start);
    this.#goTo(start - by_ns, end - by_ns);
    if (dy && this.#figure) {
      const { y_range } = this.#figure;
      const height = y_range.end - y_range.start;
      const limit = this.#height_bytes - height;
      const bottom = Math.max(0, Math.min(limit, y_range.start + dy * height));
      y_range.setv({ start: bottom, end: bottom + height });
      this.#schedule();
    }
  }

  fit(): void {
    const { first_ns, last_ns } = this.memory.blocks;
    this.#figure?.y_range.setv({ start: this.#floor_bytes, end: this.#height_bytes });
    this.#goTo(first_ns, last_ns);
    this.#schedule(true);
  }

  /** Moves the moment, or with `isSpan` the end of the span. */
  step(by: number, isSpan: boolean): void {
    const { start, end } = this.#span;
    const { first_ns, last_ns } = this.memory.blocks;
    const { from_ns, to_ns } = this.memory.choice;
    const within = (time_ns: number): number => Math.max(first_ns, Math.min(last_ns, time_ns));
    const next_ns = within((isSpan || by > 0 ? to_ns : from_ns) + by * (end - start));
    this.memory.update(
      isSpan
        ? { from_ns: Math.min(from_ns, next_ns), to_ns: next_ns }
        : { from_ns: next_ns, to_ns: next_ns },
    );
    if (next_ns < start || next_ns > end) {
      this.pan(
        next_ns < start
          ? (start - next_ns) / (end - start) + 0.1
          : -((next_ns - end) / (end - start) + 0.1),
      );
    }
  }

  jump(to: "first" | "last" | "peak"): void {
    const { first_ns, last_ns, events } = this.memory.blocks;
    const time_ns = to === "first" ? first_ns : to === "last" ? last_ns : events.peak_ns;
    this.memory.update({ from_ns: time_ns, to_ns: time_ns });
    const { start, end } = this.#span;
    if (time_ns < start || time_ns > end) {
      this.#goTo(time_ns - (end - start) / 2, time_ns + (end - start) / 2);
    }
  }

  /** To the span, or where there is none to the block that is selected. */
  zoomToChoice(): boolean {
    this.leave();
    const { from_ns, to_ns } = this.memory.choice;
    if (to_ns > from_ns) {
      const margin_ns = (to_ns - from_ns) * 0.04;
      this.#goTo(from_ns - margin_ns, to_ns + margin_ns);
      return true;
    }
    const { selection } = this.store.state;
    const { blocks } = this.memory;
    const block = selection.kind === "allocation" ? blocks.rows.indexOf(selection.allocation) : -1;
    const { clientWidth: width_px, clientHeight: height_px } = this.#pointer;
    if (block < 0 || !this.#figure || !width_px || !height_px) {
      return false;
    }
    const whole_bytes = this.#height_bytes;
    const near = windowAround(blocks, block, { width_px, height_px, whole_bytes });
    this.#figure.y_range.setv({ start: near.shown.from_bytes, end: near.shown.to_bytes });
    this.#goTo(near.from_ns, near.to_ns);
    this.#schedule(true);
    return true;
  }

  zoomBy(factor: number): void {
    this.zoom(0.5, 0.5, factor);
  }

  get #span(): { start: number; end: number } {
    const { first_ns, last_ns } = this.memory.blocks;
    return this.#figure?.x_range ?? { start: first_ns, end: last_ns };
  }

  get #height_bytes(): number {
    const { blocks, trace } = this.memory;
    const peak_bytes = Math.max(1, blocks.events.peak_bytes);
    const reserved = Math.max(0, ...reservedSteps(trace, blocks.place).reserved_bytes);
    // A pool much larger than what was ever used would press the blocks flat.
    return HEADROOM * (reserved <= 1.5 * peak_bytes ? Math.max(reserved, peak_bytes) : peak_bytes);
  }

  /** What the trace never met may be most of the memory: it need not press all else flat. */
  get #floor_bytes(): number {
    const { blocks } = this.memory;
    const earlier_bytes = blocks.rows[0] === -1 ? blocks.bytes[0]! : 0;
    const rest_bytes = this.#height_bytes - earlier_bytes;
    return earlier_bytes > rest_bytes ? earlier_bytes - 0.15 * rest_bytes : 0;
  }

  #goTo(from_ns: number, to_ns: number): void {
    const { first_ns, last_ns } = this.memory.blocks;
    const span_ns = Math.min(to_ns - from_ns, last_ns - first_ns);
    const start = Math.max(first_ns, Math.min(last_ns - span_ns, from_ns));
    this.#figure?.x_range.setv({ start, end: start + span_ns });
  }

  #showPlace(): void {
    const figure = this.#figure;
    if (!figure) {
      return;
    }
    const { blocks, trace } = this.memory;
    const { first_ns, last_ns, events } = blocks;
    const { times_ns, reserved_bytes } = reservedSteps(trace, blocks.place);
    figure.setReserved(times_ns, reserved_bytes, last_ns);
    figure.setPeak(events.peak_ns, events.peak_bytes);
    const height_bytes = this.#height_bytes;
    const { times_ns: columns_ns, total_bytes } = totalColumns(blocks, OVERVIEW_COLUMNS);
    figure.setOverview(columns_ns, total_bytes);
    figure.y_range.setv({ start: this.#floor_bytes, end: height_bytes });
    figure.x_range.setv({ start: first_ns, end: last_ns });
    this.#refresh(true);
  }

  #showMoment(): void {
    const { from_ns, to_ns } = this.memory.choice;
    const { blocks, moment } = this.memory;
    const { time_ns: at_ns, total_bytes } = moment;
    this.#figure?.setMoment(from_ns, to_ns);
    const text = `${formatDuration(Math.round(at_ns))}, ${formatBytes(total_bytes)} alive`;
    this.#pointer.setAttribute("aria-valuemax", String(Math.round(blocks.last_ns)));
    this.#pointer.setAttribute("aria-valuenow", String(Math.round(at_ns)));
    this.#pointer.setAttribute("aria-valuetext", text);
  }

  #lightFrame = 0;
  #light(): void {
    this.#lightFrame ||= requestAnimationFrame(() => {
      this.#lightFrame = 0;
      this.#figure?.setLit(this.#lit());
    });
  }

  #mustRefresh = false;
  #schedule(isNeeded = false): void {
    this.#mustRefresh ||= isNeeded;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      const must = this.#mustRefresh;
      this.#mustRefresh = false;
      this.#refresh(must);
    });
  }

  /** Make the picture anew where it does not serve any more. */
  #refresh(isNeeded: boolean): void {
    const figure = this.#figure;
    const { clientWidth: width_px, clientHeight: height_px } = this.#pointer;
    if (!figure || width_px === 0 || height_px === 0) {
      return;
    }
    const { start, end } = figure.x_range;
    this.element.dataset.span = `${start} ${end}`;
    const old = this.#picture?.window;
    const px_ns = (end - start) / width_px;
    const scale = old ? (old.to_ns - old.from_ns) / old.width_px / px_ns : 0;
    const { first_ns, last_ns } = this.memory.blocks;
    const serves =
      old &&
      old.from_ns <= Math.max(first_ns, start) &&
      old.to_ns >= Math.min(last_ns, end) &&
      scale < COARSER &&
      scale > 1 / COARSER &&
      (!old.shown ||
        (old.shown.from_bytes <= figure.y_range.start && old.shown.to_bytes >= figure.y_range.end));
    if (serves && !isNeeded) {
      return;
    }
    const { start: bottom, end: top } = figure.y_range;
    const whole_bytes = this.#height_bytes;
    const isMagnified = top - bottom < 0.99 * whole_bytes;
    const beyond_ns = BEYOND * (end - start);
    const beyond_bytes = BEYOND * (top - bottom);
    const from_ns = Math.max(first_ns, start - beyond_ns);
    const to_ns = Math.min(last_ns, end + beyond_ns);
    this.#picture = stackBlocks(this.memory.blocks, {
      from_ns,
      to_ns,
      width_px: Math.max(1, Math.round((to_ns - from_ns) / px_ns)),
      height_px,
      height_bytes: top - bottom,
      whole_bytes,
      ...(isMagnified && {
        shown: { from_bytes: bottom - beyond_bytes, to_bytes: top + beyond_bytes },
      }),
    });
    figure.setPicture(this.memory.blocks, this.#picture, this.#lit());
    figure.setPhases(
      phaseSpans(this.memory.blocks.phases, { from_ns, to_ns }, LEAST_PHASE_PX * px_ns),
      px_ns,
    );
    const ends_ns = stepEnds(this.store.trace).filter(
      (at_ns) => at_ns >= from_ns && at_ns <= to_ns,
    );
    figure.setSteps(
      (ends_ns.length * px_ns * LEAST_STEP_PX) / (to_ns - from_ns) < 1 ? ends_ns : [],
    );
    this.element.dataset.drawn = String(this.#picture.drawn.length);
  }

  #lit(): LitBlocks | undefined {
    const { blocks, choice } = this.memory;
    const rows = litAllocations(this.store);
    if (rows) {
      return (block) => rows[blocks.rows[block]!] === 1;
    }
    return choice.kind >= 0 ? (block) => blocks.kinds[block] === choice.kind : undefined;
  }

  #hit(x: number, y: number): ReturnType<typeof hitAt> | undefined {
    if (!this.#figure || !this.#picture) {
      return undefined;
    }
    const { start, end } = this.#figure.y_range;
    return hitAt(this.memory.blocks, this.#picture, this.timeAt(x), end - y * (end - start));
  }

  #buttons(): HTMLElement {
    const icon = (label: string, title: string, act: () => void): HTMLButtonElement =>
      button(label, act, { class: "pdl-button pdl-icon", title, "aria-label": title });
    return element(
      "div",
      { class: "pdl-timeline-buttons" },
      icon("−", "Zoom out (−)", () => this.zoomBy(1 / ZOOM_STEP)),
      icon("+", "Zoom in (+)", () => this.zoomBy(ZOOM_STEP)),
      button("Fit", () => this.fit(), { title: "Show the whole run (f)" }),
    );
  }
}

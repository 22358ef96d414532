/** The timeline: its figure, what the pointer and the keys do on it, and which picture it shows. */
import { loadBokeh } from "../../../charts/bokeh_loader.ts";
import { button, element } from "../../../dom/element.ts";
import { nextTask } from "../../../dom/next_task.ts";
import { litAllocations } from "../../../memory/lit.ts";
import type { MemoryState } from "../../../memory/memory_state.ts";
import { hitAt, type TimelineHit } from "../../../memory/stack/hit.ts";
import type { StackPicture } from "../../../memory/stack/stack_window.ts";
import { stackBlocks } from "../../../memory/stack/stacking.ts";
import type { Store } from "../../../model/state/store.ts";
import { t } from "../../../words/page.ts";
import { formatBytes, formatDuration } from "../../../words/quantities.ts";
import { iconButton } from "../../controls.ts";
import { ChartFrame } from "../figure/chart_frame.ts";
import { FRAME, type MemoryFigure, memoryFigure } from "../figure/figure.ts";
import { readMemoryPalette } from "../figure/palette.ts";
import type { LitBlocks } from "../figure/stack_paint.ts";
import { memoryPicture } from "./picture.ts";
import { pixel_ns, serves, windowFor } from "./picture_window.ts";
import { listenToTimeline, type TimelineMoves, ZOOM_STEP } from "./pointer.ts";
import { markRun, markWindow } from "./run_marks.ts";
import { ShownWindow } from "./shown_window.ts";
import { tooltipLines } from "./tooltip.ts";

export class Timeline implements TimelineMoves {
  readonly element: HTMLElement;
  readonly #frame: ChartFrame;
  readonly #overview = element("div", { class: "pdl-timeline-overview" });
  readonly #window: ShownWindow;
  #figure: MemoryFigure | undefined;
  #picture: StackPicture | undefined;
  /** Of the frame when the picture was made. */
  #pictured_px = { width_px: 0, height_px: 0 };
  /** Whether the picture is made anew though it would serve. */
  #mustRefresh = false;
  #lightFrame = 0;

  constructor(
    readonly store: Store,
    readonly memory: MemoryState,
    app: HTMLElement,
    options: { ownsPage: boolean },
  ) {
    this.#frame = new ChartFrame(
      app,
      {
        figure: "pdl-timeline-figure",
        pointer: {
          class: "pdl-timeline-pointer",
          "aria-label": t("memory.moment"),
          style: `inset:${FRAME.top}px ${FRAME.right}px ${FRAME.bottom}px ${FRAME.left}px`,
        },
        draw: () => this.#refresh(),
        recolour: () => this.#figure?.setTheme(readMemoryPalette(app)),
      },
      () => {
        // It is told of its first size too, which the picture may have been made for.
        const { width_px, height_px } = this.#frame.size;
        const pictured = this.#pictured_px;
        this.#schedule(width_px !== pictured.width_px || height_px !== pictured.height_px);
      },
    );
    this.#window = new ShownWindow(memory, (isNeeded) => this.#schedule(isNeeded));
    const { figure, pointer } = this.#frame;
    this.element = element(
      "div",
      { class: "pdl-timeline" },
      element("div", { class: "pdl-timeline-main" }, figure, pointer, this.#buttons()),
      this.#overview,
    );
    this.#frame.own(
      listenToTimeline(pointer, this, options),
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
      () => cancelAnimationFrame(this.#lightFrame),
      () => this.#figure?.dispose(),
    );
    this.#showMoment();
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

  /** Resolves once it is drawn. */
  async draw(): Promise<void> {
    try {
      const bokeh = await loadBokeh();
      if (this.#frame.isDisposed) {
        return;
      }
      const figure = memoryFigure(bokeh, readMemoryPalette(this.#frame.app));
      this.#figure = figure;
      this.#window.ranges = figure;
      this.#showPlace();
      this.#showMoment();
      figure.x_range.on_change(
        [figure.x_range.properties.start, figure.x_range.properties.end],
        () => this.#schedule(),
      );
      // Its picture took its time, and Bokeh's views take theirs: the page answers in between.
      await nextTask();
      if (!this.#frame.isDisposed) {
        await figure.mount({ main: this.#frame.figure, overview: this.#overview });
      }
    } catch (error) {
      // The table needs no figure.
      this.#frame.fail(error);
    }
  }

  /** The timeline as PNG, as it is shown. */
  picture(): Promise<Blob> {
    const canvases = this.#figure?.canvases() ?? [];
    return memoryPicture(this.memory, canvases, readMemoryPalette(this.#frame.app));
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

  #showPlace(): void {
    const figure = this.#figure;
    if (!figure) {
      return;
    }
    markRun(figure, this.memory);
    const { first_ns, last_ns } = this.memory.blocks;
    const { floor_bytes, whole_bytes } = this.#window;
    figure.y_range.setv({ start: floor_bytes, end: whole_bytes });
    figure.x_range.setv({ start: first_ns, end: last_ns });
    this.#mustRefresh = true;
    this.#refresh();
  }

  #showMoment(): void {
    const { from_ns, to_ns } = this.memory.choice;
    const { blocks, moment } = this.memory;
    const { time_ns: at_ns, total_bytes } = moment;
    const { pointer } = this.#frame;
    this.#figure?.setMoment(from_ns, to_ns);
    const text = t("memory.alive_at", {
      size: formatBytes(total_bytes),
      time: formatDuration(Math.round(at_ns)),
    });
    pointer.setAttribute("aria-valuemax", String(Math.round(blocks.last_ns)));
    pointer.setAttribute("aria-valuenow", String(Math.round(at_ns)));
    pointer.setAttribute("aria-valuetext", text);
  }

  #light(): void {
    this.#lightFrame ||= requestAnimationFrame(() => {
      this.#lightFrame = 0;
      this.#figure?.setLit(this.#lit());
    });
  }

  #schedule(isNeeded = false): void {
    this.#mustRefresh ||= isNeeded;
    this.#frame.schedule();
  }

  /** Make the picture anew where it does not serve any more. */
  #refresh(): void {
    const figure = this.#figure;
    const must = this.#mustRefresh;
    this.#mustRefresh = false;
    const { width_px, height_px } = this.#frame.size;
    if (!figure || width_px === 0 || height_px === 0) {
      return;
    }
    const { blocks } = this.memory;
    const { start: from_ns, end: to_ns } = figure.x_range;
    const { start: from_bytes, end: to_bytes } = figure.y_range;
    this.element.dataset.span = `${from_ns} ${to_ns}`;
    const shown = { from_ns, to_ns, from_bytes, to_bytes, width_px, height_px };
    if (!must && this.#picture && serves(this.#picture.window, shown, blocks)) {
      return;
    }
    const window = windowFor(shown, blocks, this.#window.whole_bytes);
    this.#pictured_px = { width_px, height_px };
    this.#picture = stackBlocks(blocks, window);
    figure.setStack(blocks, this.#picture, this.#lit());
    markWindow(figure, this.memory, window, pixel_ns(shown));
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

  #hit(x: number, y: number): TimelineHit | undefined {
    if (!this.#figure || !this.#picture) {
      return undefined;
    }
    const { start, end } = this.#figure.y_range;
    const height_bytes = end - y * (end - start);
    return hitAt(this.memory.blocks, this.#picture, this.#window.timeAt(x), height_bytes);
  }
}

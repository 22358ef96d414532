/** The live chart as a widget: its samples, its controls, and the figure that follows them. */
import type { AnyModel } from "@anywidget/types";
import { type BokehNamespace, loadWholeBokeh } from "../charts/bokeh_loader.ts";
import { showFailure } from "../failure.ts";
import { readTheme, watchTheme } from "../views/theme.ts";
import { clockTime, localOffset } from "./clock.ts";
import { type Controls, makeControls } from "./controls.ts";
import { type Figure, makeFigure } from "./figure.ts";
import { Kernel } from "./kernel.ts";
import { absences, busiestDevice, type Panel, paddleDevices, panelsOf } from "./lines.ts";
import {
  type BatchMessage,
  type Counter,
  type MessageFromKernel,
  readRows,
  type Span,
} from "./messages.ts";
import { Samples } from "./samples.ts";
import { Spans } from "./spans.ts";
import { readState } from "./state_text.ts";
import { TimeWindow, type Window } from "./time_window.ts";

export interface LiveState {
  _height: number;
  _notice: string;
  _has_free: boolean;
  _epoch_ms: number;
  is_running: boolean;
  stopped_because: string;
}

/** How often the chart says that nothing comes. */
const LOOK_MS = 500;

/** Show the chart in `el` until `signal` is aborted. */
export async function showLive(
  model: AnyModel<LiveState>,
  el: HTMLElement,
  signal: AbortSignal,
): Promise<void> {
  const bokeh = await loadWholeBokeh();
  if (signal.aborted) return;
  const view = new LiveView(model, el, bokeh);
  signal.addEventListener("abort", () => view.dispose());
}

class LiveView {
  readonly #model: AnyModel<LiveState>;
  readonly #bokeh: BokehNamespace;
  readonly #kernel: Kernel;
  readonly #controls: Controls;
  readonly #samples = new Samples();
  readonly #window = new TimeWindow();
  readonly #cells = new Spans();
  readonly #layers = new Spans();
  readonly #hidden = new Set<number>();
  readonly #stops: (() => void)[] = [];
  #counters: readonly Counter[] = [];
  #panels: readonly Panel[] = [];
  #device = "";
  #figure: Figure | undefined;
  #rebuilding: Promise<void> = Promise.resolve();
  #pointer_ms: number | undefined;
  #updates = 0;
  #is_visible = true;

  constructor(model: AnyModel<LiveState>, el: HTMLElement, bokeh: BokehNamespace) {
    this.#model = model;
    this.#bokeh = bokeh;
    this.#controls = makeControls(el, {
      height_px: model.get("_height"),
      has_free: model.get("_has_free"),
      onSpan: (span_ms) => {
        this.#window.followFor(span_ms);
        this.#draw();
      },
      onDevice: (device) => {
        this.#device = device;
        this.#rebuild();
      },
      onFollow: () => {
        this.#window.follow();
        this.#draw();
      },
      onToggle: (counter) => {
        if (!this.#hidden.delete(counter)) this.#hidden.add(counter);
        this.#draw();
      },
      onMove: (by, zoom) => this.#move(by, zoom),
      onPoint: (client_x) => this.#point(client_x),
      onStop: () => this.#kernel.send("stop"),
      onFree: () => this.#kernel.send("free"),
    });
    this.#kernel = new Kernel(model, (message, buffers) => this.#take(message, buffers));
    const onState = (): void => this.#showState();
    model.on("change:is_running", onState);
    model.on("change:stopped_because", onState);
    const look = setInterval(() => {
      this.#showState();
      this.#kernel.askAgain();
    }, LOOK_MS);
    const seen = new IntersectionObserver((entries) => {
      this.#is_visible = entries.at(-1)?.isIntersecting ?? true;
      if (this.#is_visible) this.#draw();
    });
    seen.observe(this.#controls.root);
    this.#stops.push(
      () => model.off("change:is_running", onState),
      () => model.off("change:stopped_because", onState),
      () => clearInterval(look),
      () => seen.disconnect(),
      watchTheme(() => this.#rebuild()),
    );
    this.#controls.showNotice(model.get("_notice"));
    this.#showState();
    this.#kernel.askForHistory();
  }

  dispose(): void {
    for (const stop of this.#stops) stop();
    this.#figure?.dispose();
    this.#kernel.leave();
  }

  #take(message: MessageFromKernel, buffers: DataView[]): void {
    switch (message.kind) {
      case "batch":
      case "history":
        this.#takeBatch(message, buffers);
        break;
      case "who":
        this.#kernel.send("present");
        break;
      case "freed":
      case "error":
        this.#controls.say(message.text);
        break;
    }
  }

  #takeBatch(message: BatchMessage, buffers: DataView[]): void {
    const tiers = message.rows.map((rows, tier) => readRows(buffers[tier], rows));
    if (message.kind === "history") {
      this.#samples.replace(tiers);
    } else {
      this.#samples.append(tiers);
    }
    this.#cells.append(message.cells);
    this.#layers.append(message.layers);
    if (message.counters) {
      this.#counters = message.counters;
      this.#rebuild();
    }
    this.#draw();
    this.#updates++;
    this.#controls.root.dataset.updates = String(this.#updates);
  }

  /** Make the figure anew: other lines, other colours. */
  #rebuild(): void {
    this.#rebuilding = this.#rebuilding
      .then(() => this.#makeFigure())
      .catch((error: unknown) => {
        showFailure(this.#controls.chart, error);
      });
  }

  async #makeFigure(): Promise<void> {
    const devices = paddleDevices(this.#counters);
    const values = this.#samples.latest(this.#counters.length);
    const device = devices.includes(this.#device)
      ? this.#device
      : busiestDevice(this.#counters, values);
    this.#panels = panelsOf(this.#counters, device);
    this.#controls.showDevices(devices, device);
    this.#controls.showAbsences(absences(this.#counters));
    this.#controls.showLines(this.#panels);
    this.#figure?.dispose();
    this.#figure = undefined;
    if (this.#panels.length === 0) return;
    this.#figure = await makeFigure(this.#bokeh, this.#controls.chart, {
      theme: readTheme(this.#controls.root),
      panels: this.#panels,
      height_px: this.#model.get("_height"),
      onMove: (start_ms, end_ms) => {
        const offset_ms = this.#offset();
        this.#window.look({ start_ms: start_ms - offset_ms, end_ms: end_ms - offset_ms });
        this.#draw();
      },
    });
    this.#draw();
  }

  #draw(): void {
    const now_ms = this.#samples.last_ms;
    if (now_ms === undefined || !this.#is_visible) return;
    const { start_ms, end_ms } = this.#shown(now_ms);
    const offset_ms = this.#offset();
    const series = this.#samples.series(start_ms, end_ms, this.#counters.length);
    const shifted = (spans: Spans): Span[] =>
      spans
        .between(start_ms, end_ms)
        .map(([start, end, label]) => [start + offset_ms, (end ?? now_ms) + offset_ms, label]);
    this.#figure?.draw({
      start_ms: start_ms + offset_ms,
      end_ms: end_ms + offset_ms,
      offset_ms,
      series,
      cells: shifted(this.#cells),
      layers: shifted(this.#layers),
      hidden: this.#hidden,
    });
    this.#controls.showFollowing(this.#window.is_following);
    this.#controls.showGaps(series.gaps.length > 0);
    this.#showValues();
  }

  #showValues(): void {
    const at_ms = this.#pointer_ms;
    const count = this.#counters.length;
    const values =
      at_ms === undefined ? this.#samples.latest(count) : this.#samples.at(at_ms, count);
    this.#controls.showValues(values, this.#counters, this.#hidden);
    const cell = at_ms === undefined ? this.#cells.running : this.#cells.at(at_ms);
    const layer = at_ms === undefined ? this.#layers.running : this.#layers.at(at_ms);
    const clock = at_ms === undefined ? "" : clockTime(at_ms + this.#model.get("_epoch_ms"));
    this.#controls.showRunning({ clock, cell, layer });
  }

  #showState(): void {
    const state = readState({
      is_running: this.#model.get("is_running"),
      stopped_because: this.#model.get("stopped_because"),
      silent_ms: this.#kernel.silent_ms,
    });
    this.#controls.showState(state);
  }

  #point(client_x: number | undefined): void {
    const local_ms = client_x === undefined ? undefined : this.#figure?.timeAt(client_x);
    this.#pointer_ms = local_ms === undefined ? undefined : local_ms - this.#offset();
    this.#figure?.pointAt(local_ms);
    this.#showValues();
  }

  #move(by: number, zoom: number): void {
    const now_ms = this.#samples.last_ms;
    if (now_ms === undefined) return;
    this.#window.move(by, zoom, this.#shown(now_ms));
    this.#draw();
  }

  #shown(now_ms: number): Window {
    return this.#window.at(now_ms, this.#samples.first_ms ?? now_ms);
  }

  #offset(): number {
    return localOffset(this.#model.get("_epoch_ms"));
  }
}

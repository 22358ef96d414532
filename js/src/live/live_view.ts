/** The live chart as a widget: its samples, its controls, and the figure that follows them. */
import type { AnyModel } from "@anywidget/types";
import { type BokehNamespace, loadWholeBokeh } from "../charts/bokeh_loader.ts";
import { showFailure } from "../failure.ts";
import { readTheme, watchTheme } from "../views/theme.ts";
import { type Controls, makeControls } from "./controls.ts";
import { type Figure, makeFigure } from "./figure.ts";
import { absences, type Panel, paddleDevices, panelsOf } from "./lines.ts";
import {
  type BatchMessage,
  type Counter,
  type MessageFromKernel,
  type MessageToKernel,
  readRows,
  type Span,
} from "./messages.ts";
import { Samples } from "./samples.ts";
import { Spans } from "./spans.ts";
import { readState } from "./state_text.ts";

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
const SILENT_MS = 1500;
/** How long to wait for the history before asking again; doubled each time, since a busy kernel piles up what it is asked. */
const FIRST_ANSWER_MS = 2000;
const LEAST_SPAN_MS = 10_000;

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
  readonly #controls: Controls;
  readonly #samples = new Samples();
  readonly #cells = new Spans();
  readonly #layers = new Spans();
  readonly #hidden = new Set<number>();
  readonly #stops: (() => void)[] = [];
  #counters: readonly Counter[] = [];
  #panels: readonly Panel[] = [];
  #device = "";
  #figure: Figure | undefined;
  #rebuilding: Promise<void> = Promise.resolve();
  #span_ms = 30_000;
  /** What the user moved the axis to, in ms since the start; without it the chart follows. */
  #looking_at: { start_ms: number; end_ms: number } | undefined;
  #pointer_ms: number | undefined;
  #heard_at = performance.now();
  #ask_again_at = Number.POSITIVE_INFINITY;
  #patience_ms = FIRST_ANSWER_MS;
  #updates = 0;
  #is_visible = true;

  constructor(model: AnyModel<LiveState>, el: HTMLElement, bokeh: BokehNamespace) {
    this.#model = model;
    this.#bokeh = bokeh;
    this.#controls = makeControls(el, {
      height_px: model.get("_height"),
      has_free: model.get("_has_free"),
      onSpan: (span_ms) => {
        this.#span_ms = span_ms;
        this.#looking_at = undefined;
        this.#draw();
      },
      onDevice: (device) => {
        this.#device = device;
        this.#rebuild();
      },
      onFollow: () => {
        this.#looking_at = undefined;
        this.#draw();
      },
      onToggle: (counter) => {
        if (!this.#hidden.delete(counter)) this.#hidden.add(counter);
        this.#draw();
      },
      onMove: (by, zoom) => this.#move(by, zoom),
      onPoint: (client_x) => this.#point(client_x),
      onStop: () => this.#send("stop"),
      onFree: () => this.#send("free"),
    });
    const onMessage = (message: MessageFromKernel, buffers: DataView[]): void =>
      this.#take(message, buffers);
    const onState = (): void => this.#showState();
    model.on("msg:custom", onMessage);
    model.on("change:is_running", onState);
    model.on("change:stopped_because", onState);
    const look = setInterval(() => {
      this.#showState();
      if (performance.now() > this.#ask_again_at) this.#askForHistory();
    }, LOOK_MS);
    const seen = new IntersectionObserver((entries) => {
      this.#is_visible = entries.at(-1)?.isIntersecting ?? true;
      if (this.#is_visible) this.#draw();
    });
    seen.observe(this.#controls.root);
    this.#stops.push(
      () => model.off("msg:custom", onMessage),
      () => model.off("change:is_running", onState),
      () => model.off("change:stopped_because", onState),
      () => clearInterval(look),
      () => seen.disconnect(),
      watchTheme(() => this.#rebuild()),
    );
    this.#controls.showNotice(model.get("_notice"));
    this.#showState();
    this.#askForHistory();
  }

  dispose(): void {
    for (const stop of this.#stops) stop();
    this.#figure?.dispose();
    // The kernel stops sampling where no other view answers it.
    this.#send("closed");
  }

  /** The rows so far; a busy kernel answers when its cell has ended, and new ones come meanwhile. */
  #askForHistory(): void {
    this.#ask_again_at = performance.now() + this.#patience_ms;
    this.#patience_ms *= 2;
    this.#send("opened");
  }

  #send(kind: MessageToKernel["kind"]): void {
    try {
      this.#model.send({ kind });
    } catch {
      // The kernel is gone, and with it what the message was for.
    }
  }

  #take(message: MessageFromKernel, buffers: DataView[]): void {
    switch (message.kind) {
      case "batch":
      case "history":
        this.#takeBatch(message, buffers);
        break;
      case "who":
        this.#send("present");
        break;
      case "freed":
      case "error":
        this.#controls.say(message.text);
        break;
    }
  }

  #takeBatch(message: BatchMessage, buffers: DataView[]): void {
    this.#heard_at = performance.now();
    const tiers = message.rows.map((rows, tier) => readRows(buffers[tier], rows));
    if (message.kind === "history") {
      this.#samples.replace(tiers);
      this.#ask_again_at = Number.POSITIVE_INFINITY;
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
    const device = devices.includes(this.#device) ? this.#device : this.#busiest(devices);
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
        this.#looking_at = { start_ms: start_ms - offset_ms, end_ms: end_ms - offset_ms };
        this.#draw();
      },
    });
    this.#draw();
  }

  /** The device that Paddle uses most: an accelerator where there is one in use. */
  #busiest(devices: readonly string[]): string {
    const values = this.#samples.latest(this.#counters.length);
    const allocated = (device: string): number =>
      values[
        this.#counters.findIndex((each) => each.device === device && each.name === "allocated")
      ] || 0;
    const accelerators = devices.filter((device) => device !== "cpu" && allocated(device) > 0);
    const [first] = accelerators.sort((one, other) => allocated(other) - allocated(one));
    return first ?? devices[0] ?? "";
  }

  #draw(): void {
    const now_ms = this.#samples.last_ms;
    if (now_ms === undefined || !this.#is_visible) return;
    // A chart that has just begun does not show the time before.
    const age_ms = now_ms - (this.#samples.first_ms ?? now_ms);
    const span_ms = Math.min(this.#span_ms, Math.max(age_ms, LEAST_SPAN_MS));
    const { start_ms, end_ms } = this.#looking_at ?? { start_ms: now_ms - span_ms, end_ms: now_ms };
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
    this.#controls.showFollowing(this.#looking_at === undefined);
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
    const silent_ms = performance.now() - this.#heard_at;
    const state = readState({
      is_running: this.#model.get("is_running"),
      stopped_because: this.#model.get("stopped_because"),
      silent_ms: silent_ms > SILENT_MS ? silent_ms : 0,
    });
    this.#controls.showState(state);
  }

  #point(client_x: number | undefined): void {
    const local_ms = client_x === undefined ? undefined : this.#figure?.timeAt(client_x);
    this.#pointer_ms = local_ms === undefined ? undefined : local_ms - this.#offset();
    this.#figure?.pointAt(local_ms);
    this.#showValues();
  }

  /** Move the axis by a share of its span, or zoom it; the keyboard's way. */
  #move(by: number, zoom: number): void {
    const now_ms = this.#samples.last_ms;
    if (now_ms === undefined) return;
    const span_ms = Number.isFinite(this.#span_ms) ? this.#span_ms : 60_000;
    const { start_ms, end_ms } = this.#looking_at ?? { start_ms: now_ms - span_ms, end_ms: now_ms };
    const width_ms = (end_ms - start_ms) * zoom;
    const middle_ms = (start_ms + end_ms) / 2 + by * (end_ms - start_ms);
    this.#looking_at = { start_ms: middle_ms - width_ms / 2, end_ms: middle_ms + width_ms / 2 };
    this.#draw();
  }

  /** From the sampler's ms to what Bokeh, which knows no time zones, shows as local time. */
  #offset(): number {
    const epoch_ms = this.#model.get("_epoch_ms");
    return epoch_ms - new Date(epoch_ms).getTimezoneOffset() * 60_000;
  }
}

function clockTime(epoch_ms: number): string {
  const date = new Date(epoch_ms);
  const two = (value: number): string => String(value).padStart(2, "0");
  const tenths = Math.floor(date.getMilliseconds() / 100);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${tenths}`;
}

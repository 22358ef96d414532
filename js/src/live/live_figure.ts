/** The figure of a live chart, which shows the received samples in the visible time window. */
import type { BokehNamespace } from "../charts/bokeh_loader.ts";
import { showFailure } from "../dom/failure.ts";
import { readTheme } from "../dom/theme.ts";
import type { Controls } from "./controls.ts";
import { absences, busiestDevice, paddleDevices, panelsOf } from "./counters/lines.ts";
import type { Span } from "./counters/messages.ts";
import type { Received } from "./counters/received.ts";
import { Figure } from "./figure/figure.ts";
import { clockTime, localOffset, TimeWindow, type Window } from "./figure/time_window.ts";

export interface LiveFigureOptions {
  readonly height_px: number;
  /** The offset from a sample's time to ms since 1970. */
  readonly epoch_ms: () => number;
}

export class LiveFigure {
  readonly #bokeh: BokehNamespace;
  readonly #controls: Controls;
  readonly #received: Received;
  readonly #options: LiveFigureOptions;
  readonly #window = new TimeWindow();
  readonly #hidden = new Set<number>();
  #device = "";
  #figure: Figure | undefined;
  #rebuilding: Promise<void> = Promise.resolve();
  #pointer_ms: number | undefined;
  #is_visible = true;

  constructor(
    bokeh: BokehNamespace,
    controls: Controls,
    received: Received,
    options: LiveFigureOptions,
  ) {
    this.#bokeh = bokeh;
    this.#controls = controls;
    this.#received = received;
    this.#options = options;
  }

  dispose(): void {
    this.#figure?.dispose();
  }

  /** Create the figure again, for other lines or colours. */
  rebuild(): void {
    this.#rebuilding = this.#rebuilding
      .then(() => this.#makeFigure())
      .catch((error: unknown) => {
        showFailure(this.#controls.chart, error);
      });
  }

  draw(): void {
    const received = this.#received;
    const now_ms = received.samples.last_ms;
    if (now_ms === undefined || !this.#is_visible) return;
    const { start_ms, end_ms } = this.#shown(now_ms);
    const offset_ms = this.#offset();
    const series = received.samples.series(start_ms, end_ms, received.counters.length);
    const shifted = (spans: Span[]): [number, number, string][] =>
      spans.map(([start, end, label]) => [start + offset_ms, (end ?? now_ms) + offset_ms, label]);
    this.#figure?.draw({
      start_ms: start_ms + offset_ms,
      end_ms: end_ms + offset_ms,
      offset_ms,
      series,
      cells: shifted(received.cells.between(start_ms, end_ms)),
      layers: shifted(received.layers.between(start_ms, end_ms)),
      hidden: this.#hidden,
    });
    this.#controls.showFollowing(this.#window.is_following);
    this.#controls.showGaps(series.gaps.length > 0);
    this.#showValues();
  }

  /** Draw only while the chart is visible. */
  setVisible(is_visible: boolean): void {
    this.#is_visible = is_visible;
    this.draw();
  }

  follow(span_ms?: number): void {
    if (span_ms === undefined) {
      this.#window.follow();
    } else {
      this.#window.followFor(span_ms);
    }
    this.draw();
  }

  move(by: number, zoom: number): void {
    const now_ms = this.#received.samples.last_ms;
    if (now_ms === undefined) return;
    this.#window.move(by, zoom, this.#shown(now_ms));
    this.draw();
  }

  showDevice(device: string): void {
    this.#device = device;
    this.rebuild();
  }

  toggle(counter: number): void {
    if (!this.#hidden.delete(counter)) this.#hidden.add(counter);
    this.draw();
  }

  point(client_x: number | undefined): void {
    const local_ms = client_x === undefined ? undefined : this.#figure?.timeAt(client_x);
    this.#pointer_ms = local_ms === undefined ? undefined : local_ms - this.#offset();
    this.#figure?.pointAt(local_ms);
    this.#showValues();
  }

  async #makeFigure(): Promise<void> {
    const { counters } = this.#received;
    const devices = paddleDevices(counters);
    const device = devices.includes(this.#device)
      ? this.#device
      : busiestDevice(counters, this.#received.moment(undefined).values);
    const panels = panelsOf(counters, device);
    this.#controls.showDevices(devices, device);
    this.#controls.showAbsences(absences(counters));
    this.#controls.showLines(panels);
    this.#figure?.dispose();
    this.#figure = undefined;
    if (panels.length === 0) return;
    const figure = new Figure(this.#bokeh, {
      theme: readTheme(this.#controls.root),
      panels,
      height_px: this.#options.height_px,
      onMove: (start_ms, end_ms) => {
        const offset_ms = this.#offset();
        this.#window.look({ start_ms: start_ms - offset_ms, end_ms: end_ms - offset_ms });
        this.draw();
      },
    });
    await figure.mount(this.#bokeh, this.#controls.chart);
    this.#figure = figure;
    this.draw();
  }

  #showValues(): void {
    const at_ms = this.#pointer_ms;
    const { values, cell, layer } = this.#received.moment(at_ms);
    this.#controls.showValues(values, this.#received.counters, this.#hidden);
    const clock = at_ms === undefined ? "" : clockTime(at_ms + this.#options.epoch_ms());
    this.#controls.showRunning({ clock, cell, layer });
  }

  #shown(now_ms: number): Window {
    return this.#window.at(now_ms, this.#received.samples.first_ms ?? now_ms);
  }

  #offset(): number {
    return localOffset(this.#options.epoch_ms());
  }
}

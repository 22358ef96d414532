/** The live chart as a widget: the kernel, the controls, and the figure between them. */
import type { AnyModel } from "@anywidget/types";
import { type BokehNamespace, loadBokeh } from "../charts/bokeh_loader.ts";
import { watchTheme } from "../dom/theme.ts";
import { t } from "../words/live.ts";
import { speak, speakIn } from "../words/say.ts";
import { type ChartState, type Controls, makeControls } from "./controls.ts";
import type { MessageFromKernel } from "./counters/messages.ts";
import { Received } from "./counters/received.ts";
import { Kernel } from "./kernel.ts";
import { LiveFigure } from "./live_figure.ts";

export interface LiveState {
  _height: number;
  _has_free: boolean;
  _epoch_ms: number;
  /** The language of the chart. */
  _language: string;
  is_running: boolean;
  stopped_because: string;
}

/** How often the chart checks whether the kernel is silent. */
const LOOK_MS = 500;

/** Show the chart in `el` until `signal` is aborted. */
export async function showLive(
  model: AnyModel<LiveState>,
  el: HTMLElement,
  signal: AbortSignal,
): Promise<void> {
  speak(model.get("_language"));
  const bokeh = await loadBokeh();
  if (signal.aborted) return;
  const stopSpeaking = speakIn(el, model.get("_language"));
  const view = new LiveView(model, el, bokeh);
  signal.addEventListener("abort", () => {
    view.dispose();
    stopSpeaking();
  });
}

class LiveView {
  readonly #model: AnyModel<LiveState>;
  readonly #kernel: Kernel;
  readonly #controls: Controls;
  readonly #received = new Received();
  readonly #figure: LiveFigure;
  readonly #stops: (() => void)[] = [];
  #updates = 0;

  constructor(model: AnyModel<LiveState>, el: HTMLElement, bokeh: BokehNamespace) {
    this.#model = model;
    const height_px = model.get("_height");
    this.#controls = makeControls(el, {
      height_px,
      has_free: model.get("_has_free"),
      onSpan: (span_ms) => this.#figure.follow(span_ms),
      onDevice: (device) => this.#figure.showDevice(device),
      onFollow: () => this.#figure.follow(),
      onToggle: (counter) => this.#figure.toggle(counter),
      onMove: (by, zoom) => this.#figure.move(by, zoom),
      onPoint: (client_x) => this.#figure.point(client_x),
      onStop: () => this.#kernel.send("stop"),
      onFree: () => this.#kernel.send("free"),
    });
    this.#figure = new LiveFigure(bokeh, this.#controls, this.#received, {
      height_px,
      epoch_ms: () => model.get("_epoch_ms"),
    });
    this.#kernel = new Kernel(model, (message, buffers) => this.#take(message, buffers));
    this.#watch();
    this.#showState();
    this.#kernel.askForHistory();
  }

  dispose(): void {
    for (const stop of this.#stops) stop();
    this.#figure.dispose();
    this.#kernel.leave();
  }

  /** React to all changes except samples: the sampler's state, silence, the page, the theme. */
  #watch(): void {
    const model = this.#model;
    const onState = (): void => this.#showState();
    model.on("change:is_running", onState);
    model.on("change:stopped_because", onState);
    const look = setInterval(() => {
      this.#showState();
      this.#kernel.askAgain();
    }, LOOK_MS);
    const seen = new IntersectionObserver((entries) => {
      this.#figure.setVisible(entries.at(-1)?.isIntersecting ?? true);
    });
    seen.observe(this.#controls.root);
    this.#stops.push(
      () => model.off("change:is_running", onState),
      () => model.off("change:stopped_because", onState),
      () => clearInterval(look),
      () => seen.disconnect(),
      watchTheme(() => this.#figure.rebuild()),
    );
  }

  #take(message: MessageFromKernel, buffers: DataView[]): void {
    switch (message.kind) {
      case "batch":
      case "history":
        if (this.#received.take(message, buffers)) this.#figure.rebuild();
        this.#figure.draw();
        this.#updates++;
        this.#controls.root.dataset.updates = String(this.#updates);
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

  #showState(): void {
    this.#controls.showState(this.#state());
  }

  #state(): ChartState {
    if (!this.#model.get("is_running")) {
      const why = this.#model.get("stopped_because");
      return { kind: "stopped", text: why ? t("stopped_because", { why }) : t("stopped") };
    }
    const seconds = Math.round(this.#kernel.silent_ms / 1000);
    return seconds > 0
      ? { kind: "silent", text: t("silent", { n: seconds }) }
      : { kind: "live", text: t("live") };
  }
}

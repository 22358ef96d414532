/**
 * BokehJS 3.9 has each plot listen to the window's viewport for good, which keeps the plot with all its data. Here the
 * listener goes with the plot's view.
 */
import type { PlotView } from "@bokeh/bokehjs/build/js/lib/models/plots/plot_canvas";
import { type BokehNamespace, bokehModels } from "./bokeh_loader.ts";

const mended = new WeakSet<object>();

/** Call it before a plot is drawn; BokehJS is changed once, and only the one that is loaded here. */
export function endListenersWithViews(bokeh: BokehNamespace): void {
  const { default_view } = bokehModels(bokeh).Plot.prototype;
  const prototype = default_view?.prototype as PlotView;
  if (mended.has(prototype)) return;
  mended.add(prototype);
  const { connect_signals, remove } = prototype;
  const controllers = new WeakMap<object, AbortController>();
  prototype.connect_signals = function (this: PlotView) {
    const controller = new AbortController();
    controllers.set(this, controller);
    listeningUntil(controller.signal, () => connect_signals.call(this));
  };
  prototype.remove = function (this: PlotView) {
    controllers.get(this)?.abort();
    remove.call(this);
  };
}

/** Do something, and what it has listen to the viewport listens until `signal` is aborted. */
function listeningUntil(signal: AbortSignal, act: () => void): void {
  const viewport = globalThis.visualViewport;
  if (!viewport) {
    act();
    return;
  }
  const { addEventListener } = EventTarget.prototype;
  viewport.addEventListener = (type: string, listener: EventListenerOrEventListenerObject) =>
    addEventListener.call(viewport, type, listener, { signal });
  try {
    act();
  } finally {
    Reflect.deleteProperty(viewport, "addEventListener");
  }
}

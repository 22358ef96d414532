/**
 * Removes viewport listeners of BokehJS together with a plot's view. BokehJS 3.9 adds such a
 * listener for each plot and never removes it, which keeps the plot with all its data.
 */
import type { PlotView } from "@bokeh/bokehjs/build/js/lib/models/plots/plot_canvas";
import { type BokehNamespace, bokehModels } from "./bokeh_loader.ts";

const mended = new WeakSet<object>();

/** Must be called before a plot is drawn. It changes only the BokehJS that was loaded here. */
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

/** Run `act`. When `signal` is aborted, remove the viewport listeners that `act` added. */
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

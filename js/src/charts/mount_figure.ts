/** Draws a figure of Bokeh's models in the page. */

import type * as documentModule from "@bokeh/bokehjs/build/js/lib/document/index";
import type { CanvasView } from "@bokeh/bokehjs/build/js/lib/models/canvas/canvas";
import type { PlotView } from "@bokeh/bokehjs/build/js/lib/models/plots/plot_canvas";
import { type BokehModels, type BokehNamespace, bokehModels } from "./bokeh_loader.ts";

type Plot = InstanceType<BokehModels["Plot"]>;
type Root = InstanceType<BokehModels["LayoutDOM"]>;

export interface MountedFigure {
  /** The view of a plot, which has the place of its frame and its scales. */
  viewOf(plot: Plot): PlotView | null;
  dispose(): void;
}

/** Draw `root` in `element`. */
export async function mountFigure(
  bokeh: BokehNamespace,
  root: Root,
  element: HTMLElement,
): Promise<MountedFigure> {
  const { document, close } = openDocument(bokeh);
  document.add_root(root);
  const views = await bokeh.embed.add_document_standalone(document, element);
  takeFromTabOrder(views);
  return {
    viewOf: (plot) => views.find_one(plot) as PlotView | null,
    dispose: () => {
      close();
      element.replaceChildren();
    },
  };
}

/**
 * Make a document for a figure. BokehJS keeps a document with all its models until it is closed.
 */
function openDocument(bokeh: BokehNamespace): {
  document: documentModule.Document;
  close: () => void;
} {
  endListenersWithViews(bokeh);
  const { Document, documents } = bokeh.require("document") as typeof documentModule;
  const document = new Document();
  // Our figures have no notifications. Their view would stay after the document is cleared.
  document.config.notifications = null;
  return {
    document,
    close() {
      document.clear();
      const at = documents.indexOf(document);
      if (at >= 0) documents.splice(at, 1);
    },
  };
}

/**
 * Remove figures from the tab order. Bokeh adds every figure to it, although a figure reacts to no
 * key. The element around the figure, or on top of it, handles keys.
 */
function takeFromTabOrder(
  views: Awaited<ReturnType<BokehNamespace["embed"]["add_document_standalone"]>>,
): void {
  for (const view of views.query((each) => "events_el" in each)) {
    (view as CanvasView).events_el.tabIndex = -1;
  }
}

/**
 * Removes viewport listeners of BokehJS together with a plot's view. BokehJS 3.9 adds such a
 * listener for each plot and never removes it, which keeps the plot with all its data.
 */
const mended = new WeakSet<object>();

/** Must be called before a plot is drawn. It changes only the BokehJS that was loaded here. */
function endListenersWithViews(bokeh: BokehNamespace): void {
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

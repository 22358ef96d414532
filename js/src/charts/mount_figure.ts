/** Draws a figure of Bokeh's models in the page. */
import type * as documentModule from "@bokeh/bokehjs/build/js/lib/document/index";
import type { CanvasView } from "@bokeh/bokehjs/build/js/lib/models/canvas/canvas";
import type { PlotView } from "@bokeh/bokehjs/build/js/lib/models/plots/plot_canvas";
import type { BokehModels, BokehNamespace } from "./bokeh_loader.ts";
import { endListenersWithViews } from "./viewport_listeners.ts";

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

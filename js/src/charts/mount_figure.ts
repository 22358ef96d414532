/** From Bokeh's models to a figure in the page. */
import type { Document as BokehDocument } from "@bokeh/bokehjs/build/js/lib/document/index";
import type { CanvasView } from "@bokeh/bokehjs/build/js/lib/models/canvas/canvas";
import type { PlotView } from "@bokeh/bokehjs/build/js/lib/models/plots/plot_canvas";
import type { BokehModels, CarriedBokeh } from "./bokeh_loader.ts";

type Plot = InstanceType<BokehModels["Plot"]>;
type Root = InstanceType<BokehModels["LayoutDOM"]>;

export interface MountedFigure {
  /** The view of a plot: where its frame is, and its scales. */
  viewOf(plot: Plot): PlotView | null;
  dispose(): void;
}

/** Draw `root` in `element`. */
export async function mountFigure(
  bokeh: CarriedBokeh,
  root: Root,
  element: HTMLElement,
): Promise<MountedFigure> {
  const { Document } = bokeh.require("document") as { Document: typeof BokehDocument };
  const document = new Document();
  document.add_root(root);
  const views = await bokeh.embed.add_document_standalone(document, element);
  takeFromTabOrder(views);
  return {
    viewOf: (plot) => views.find_one(plot) as PlotView | null,
    dispose: () => {
      document.clear();
      element.replaceChildren();
    },
  };
}

/**
 * Bokeh has Tab stop at every figure, where nothing says so and no key does anything: the keys are
 * those of the element that the figure is in, or lies under.
 */
export function takeFromTabOrder(
  views: Awaited<ReturnType<CarriedBokeh["embed"]["add_document_standalone"]>>,
): void {
  for (const view of views.query((each) => "events_el" in each)) {
    (view as CanvasView).events_el.tabIndex = -1;
  }
}

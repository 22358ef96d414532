import type { MimeModel } from "@jupyterlab/rendermime";
import { Widget } from "@lumino/widgets";
import { GRAPH_MIME_TYPE, readGraph } from "./graph_mime.ts";
import { whyWithoutKernel } from "./missing.ts";
import { OutputRenderer } from "./output_renderer.ts";

/** How long to wait for the kernel's widget before the stored graph is drawn. */
const WIDGET_LIMIT_MS = 2000;
const LOOK_MS = 250;

/**
 * Shows the kernel's widget if there is one, because it keeps Python and the page in sync. Without
 * a widget (no kernel, a new kernel, state not saved) it draws the graph from the output's data.
 * JupyterLab itself would only show "Loading widget…".
 */
export class GraphRenderer extends OutputRenderer {
  #takeDown: (() => void) | undefined;

  override dispose(): void {
    this.#takeDown?.();
    this.#takeDown = undefined;
    super.dispose();
  }

  protected async show(model: MimeModel): Promise<void> {
    const outcome = await this.showWidget(model, { limit_ms: WIDGET_LIMIT_MS });
    const graph = readGraph(model.data[GRAPH_MIME_TYPE]);
    if (outcome === "shown" || graph === null || this.isDisposed) return;
    const { showSavedGraph } = await import("./saved_graph.ts");
    if (this.isDisposed) return;
    const view = new Widget();
    this.addWidget(view);
    const hasKernel = !!this.panel?.sessionContext.session?.kernel;
    const notice = hasKernel ? whyWithoutKernel(this.page.plugins, graph, outcome) : "";
    this.#takeDown = showSavedGraph(view.node, graph, notice);
    if (graph.isReduced && outcome !== "failed") await this.#giveWay(model, view);
  }

  /**
   * Replace the stored graph by the kernel's widget, if a kernel with the whole trace appears
   * later.
   */
  async #giveWay(model: MimeModel, saved: Widget): Promise<void> {
    // A notebook may draw its outputs before it is registered.
    for (let tries = 0; !this.panel && tries < 80 && !this.isDisposed; tries++) await later();
    await this.panel?.sessionContext.ready;
    // A renderer waits forever if it was made before the notebook had a widget manager. No event
    // reports the manager, so make a renderer repeatedly.
    for (let limit_ms = 1000; limit_ms <= 16_000 && !this.isDisposed; limit_ms *= 2) {
      const outcome = await this.showWidget(model, { limit_ms, isHidden: true });
      if (outcome === "failed") return;
      if (outcome === "shown") {
        this.#takeDown?.();
        this.#takeDown = undefined;
        saved.dispose();
        return;
      }
      await later();
    }
  }
}

function later(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

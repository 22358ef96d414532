import type { MimeModel } from "@jupyterlab/rendermime";
import { Widget } from "@lumino/widgets";
import { GRAPH_MIME_TYPE, readGraph } from "./graph_mime.ts";
import { whyWithoutKernel } from "./missing.ts";
import { OutputRenderer } from "./output_renderer.ts";

/** How long the kernel's widget may take to appear before the saved graph stands in. */
const WIDGET_LIMIT_MS = 2000;
const LOOK_MS = 250;

/**
 * Shows a graph as the kernel's widget while there is one, which keeps Python and the page in step;
 * and where there is none (no kernel, a new one, widget state not saved) from the output's own data.
 * JupyterLab alone says "Loading widget…" there.
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

  /** Replace the saved copy by the kernel's widget if a later kernel has the whole trace. */
  async #giveWay(model: MimeModel, saved: Widget): Promise<void> {
    // A notebook that is being opened may be drawn before it is known.
    for (let tries = 0; !this.panel && tries < 80 && !this.isDisposed; tries++) await later();
    await this.panel?.sessionContext.ready;
    // A widget's renderer that is made before the notebook has its widget manager waits for ever,
    // and nothing tells when it has one.
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

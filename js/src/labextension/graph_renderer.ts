import type { NotebookPanel } from "@jupyterlab/notebook";
import type { MimeModel, Renderer, RendererFactory } from "@jupyterlab/rendermime";
import { Panel, Widget } from "@lumino/widgets";
import type { ReportCleared } from "./cleared_output.ts";
import { GRAPH_MIME_TYPE, readGraph } from "./graph_mime.ts";
import { type Outcome, showKernelWidget } from "./kernel_widget.ts";
import { type Plugins, whyWithoutKernel } from "./missing.ts";

/** How long the kernel's widget may take to appear before the saved graph stands in. */
const WIDGET_LIMIT_MS = 2000;

type FindPanel = (node: HTMLElement) => NotebookPanel | null;

/**
 * Shows a graph as the kernel's widget while there is one, which keeps Python and the page in step;
 * and where there is none (no kernel, a new one, widget state not saved) from the output's own data.
 * JupyterLab alone says "Loading widget…" there.
 */
export function graphRendererFactory(
  findPanel: FindPanel,
  reportCleared: ReportCleared,
  plugins: Plugins,
): RendererFactory {
  return {
    // It runs nothing of what it draws: fit for notebooks of strangers.
    safe: true,
    mimeTypes: [GRAPH_MIME_TYPE],
    createRenderer: () => new GraphRenderer(findPanel, reportCleared, plugins),
  };
}

class GraphRenderer extends Panel implements Renderer {
  readonly #findPanel: FindPanel;
  readonly #reportCleared: ReportCleared;
  readonly #plugins: Plugins;
  #model: MimeModel | null = null;
  #takeDown: (() => void) | null = null;
  #onDisposed: (() => void) | null = null;

  constructor(findPanel: FindPanel, reportCleared: ReportCleared, plugins: Plugins) {
    super();
    this.#findPanel = findPanel;
    this.#reportCleared = reportCleared;
    this.#plugins = plugins;
  }

  async renderModel(model: MimeModel): Promise<void> {
    this.#model = model;
    if (this.isAttached) await this.#show();
  }

  /** Which notebook it is in shows only once it is in the page. */
  protected override onAfterAttach(): void {
    if (this.#takeDown === null && this.widgets.length === 0) void this.#show();
  }

  override dispose(): void {
    this.#takeDown?.();
    this.#takeDown = null;
    this.#onDisposed?.();
    this.#onDisposed = null;
    super.dispose();
  }

  async #show(): Promise<void> {
    const model = this.#model;
    if (model === null || this.isDisposed) return;
    this.#model = null;
    const outcome = await this.#showWidget(model, { limit_ms: WIDGET_LIMIT_MS });
    const graph = readGraph(model.data[GRAPH_MIME_TYPE]);
    if (outcome === "shown" || graph === null || this.isDisposed) return;
    const { showSavedGraph } = await import("./saved_graph.ts");
    if (this.isDisposed) return;
    const view = new Widget();
    this.addWidget(view);
    const hasKernel = !!this.#findPanel(this.node)?.sessionContext.session?.kernel;
    const notice = hasKernel ? whyWithoutKernel(this.#plugins, graph, outcome) : "";
    this.#takeDown = showSavedGraph(view.node, graph, notice);
    if (graph.isReduced && outcome !== "failed") await this.#giveWay(model, view);
  }

  /** Where a kernel that is found later has all of the trace, its widget takes the copy's place. */
  async #giveWay(model: MimeModel, saved: Widget): Promise<void> {
    let panel = this.#findPanel(this.node);
    // A notebook that is being opened may be drawn before it is known.
    for (let tries = 0; !panel && tries < 80 && !this.isDisposed; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      panel = this.#findPanel(this.node);
    }
    await panel?.sessionContext.ready;
    // A widget's renderer that is made before the notebook has its widget manager waits for ever,
    // and nothing tells when it has one.
    for (let limit_ms = 1000; limit_ms <= 16_000 && !this.isDisposed; limit_ms *= 2) {
      const outcome = await this.#showWidget(model, { limit_ms, isHidden: true });
      if (outcome === "failed") return;
      if (outcome === "shown") {
        this.#takeDown?.();
        this.#takeDown = null;
        saved.dispose();
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  #showWidget(
    { data }: MimeModel,
    options: { limit_ms: number; isHidden?: boolean },
  ): Promise<Outcome> {
    const panel = this.#findPanel(this.node);
    if (panel) this.#onDisposed = () => this.#reportCleared(panel, data);
    return showKernelWidget(this, panel, data, options);
  }
}

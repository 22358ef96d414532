import type { NotebookPanel } from "@jupyterlab/notebook";
import type { MimeModel, Renderer, RendererFactory } from "@jupyterlab/rendermime";
import { Panel } from "@lumino/widgets";
import type { ReportCleared } from "./cleared_output.ts";
import { LIVE_MIME_TYPE, readNote, WIDGET_MIME_TYPE } from "./graph_mime.ts";

/** How long a notebook that is being opened may take to find its kernel. */
const KERNEL_LIMIT_MS = 20_000;

type FindPanel = (node: HTMLElement) => NotebookPanel | null;

/**
 * Shows a live chart where its kernel is, and elsewhere says what stood here. JupyterLab alone says
 * "Loading widget…" for ever where there is no kernel, and speaks of a missing model where it is
 * another one.
 */
export function liveRendererFactory(
  findPanel: FindPanel,
  reportCleared: ReportCleared,
): RendererFactory {
  return {
    safe: true,
    mimeTypes: [LIVE_MIME_TYPE],
    createRenderer: () => new LiveRenderer(findPanel, reportCleared),
  };
}

class LiveRenderer extends Panel implements Renderer {
  readonly #findPanel: FindPanel;
  readonly #reportCleared: ReportCleared;
  #model: MimeModel | null = null;
  #onDisposed: (() => void) | null = null;

  constructor(findPanel: FindPanel, reportCleared: ReportCleared) {
    super();
    this.#findPanel = findPanel;
    this.#reportCleared = reportCleared;
  }

  async renderModel(model: MimeModel): Promise<void> {
    this.#model = model;
    if (this.isAttached) await this.#show();
  }

  /** Which notebook it is in shows only once it is in the page. */
  protected override onAfterAttach(): void {
    if (this.widgets.length === 0) void this.#show();
  }

  override dispose(): void {
    this.#onDisposed?.();
    this.#onDisposed = null;
    super.dispose();
  }

  async #show(): Promise<void> {
    const model = this.#model;
    if (model === null || this.isDisposed) return;
    this.#model = null;
    if (await this.#showChart(model)) return;
    if (this.isDisposed) return;
    const note = document.createElement("p");
    note.className = "pdl-live-gone";
    note.textContent = readNote(model.data[LIVE_MIME_TYPE]);
    this.node.replaceChildren(note);
  }

  /** True once the chart is drawn; false where its kernel is not, or no more. */
  async #showChart(model: MimeModel): Promise<boolean> {
    const panel = this.#findPanel(this.node);
    const rendermime = panel?.content.rendermime;
    if (!panel || rendermime?.getFactory(WIDGET_MIME_TYPE) === undefined) return false;
    const limit = new Promise<void>((resolve) => setTimeout(resolve, KERNEL_LIMIT_MS));
    await Promise.race([panel.sessionContext.ready, limit]);
    if (!panel.sessionContext.session?.kernel || this.isDisposed) return false;
    const widget = rendermime.createRenderer(WIDGET_MIME_TYPE);
    this.addWidget(widget);
    this.#onDisposed = () => this.#reportCleared(panel, model.data);
    // A busy kernel is asked what it has when its cell is over; until then it says that it loads.
    await widget.renderModel(model).catch(() => {});
    // What failed is said in text; the chart itself is an element.
    if (widget.node.childElementCount > 0) return true;
    widget.dispose();
    return false;
  }
}

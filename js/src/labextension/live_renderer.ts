import type { NotebookPanel } from "@jupyterlab/notebook";
import type { MimeModel, Renderer, RendererFactory } from "@jupyterlab/rendermime";
import { Panel } from "@lumino/widgets";
import { codeText } from "../dom/code_text.ts";
import type { ReportCleared } from "./cleared_output.ts";
import { LIVE_MIME_TYPE, readNote, WIDGET_MIME_TYPE } from "./graph_mime.ts";
import { type Outcome, showKernelWidget } from "./kernel_widget.ts";
import { type Plugins, whyNoChart } from "./missing.ts";

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
  plugins: Plugins,
): RendererFactory {
  return {
    safe: true,
    mimeTypes: [LIVE_MIME_TYPE],
    createRenderer: () => new LiveRenderer(findPanel, reportCleared, plugins),
  };
}

class LiveRenderer extends Panel implements Renderer {
  readonly #findPanel: FindPanel;
  readonly #reportCleared: ReportCleared;
  readonly #plugins: Plugins;
  #model: MimeModel | null = null;
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
    const outcome = await this.#showChart(model);
    if (outcome === "shown" || this.isDisposed) return;
    const note = document.createElement("p");
    note.className = "pdl-live-gone";
    const saved = readNote(model.data[LIVE_MIME_TYPE]);
    note.append(codeText(whyNoChart(this.#plugins, saved, outcome)));
    this.node.replaceChildren(note);
  }

  async #showChart({ data }: MimeModel): Promise<Outcome> {
    const panel = this.#findPanel(this.node);
    if (!panel?.content.rendermime.getFactory(WIDGET_MIME_TYPE)) return "absent";
    const limit = new Promise<void>((resolve) => setTimeout(resolve, KERNEL_LIMIT_MS));
    await Promise.race([panel.sessionContext.ready, limit]);
    if (this.isDisposed) return "absent";
    this.#onDisposed = () => this.#reportCleared(panel, data);
    // A busy kernel is asked what it has when its cell is over; until then it says that it loads.
    return showKernelWidget(this, panel, data);
  }
}

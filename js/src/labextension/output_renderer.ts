/** Shows an output of Paddle Lab: the kernel's widget if there is one, otherwise a replacement. */
import type { NotebookPanel } from "@jupyterlab/notebook";
import type { MimeModel, Renderer, RendererFactory } from "@jupyterlab/rendermime";
import { Panel } from "@lumino/widgets";
import { modelId } from "./graph_mime.ts";
import { type Outcome, showKernelWidget } from "./kernel_widget.ts";
import type { Plugins } from "./missing.ts";

/** The functions of the page that a renderer needs. */
export interface Page {
  readonly plugins: Plugins;
  panelAround(node: HTMLElement): NotebookPanel | null;
  /** Report that an output of `panel` with this data was disposed of. */
  reportCleared(panel: NotebookPanel, data: MimeModel["data"]): void;
}

export function rendererFactory(
  mimeType: string,
  createRenderer: () => OutputRenderer,
): RendererFactory {
  // The renderer runs no code from the output, so untrusted notebooks are safe.
  return { safe: true, mimeTypes: [mimeType], createRenderer };
}

export abstract class OutputRenderer extends Panel implements Renderer {
  #model: MimeModel | undefined;
  #onDisposed: (() => void) | undefined;
  #shownId: string | undefined;
  #showing: Promise<void> = Promise.resolve();

  constructor(protected readonly page: Page) {
    super();
  }

  /** Show an output after the notebook that contains it is known. */
  protected abstract show(model: MimeModel): Promise<void>;

  async renderModel(model: MimeModel): Promise<void> {
    this.#model = model;
    if (this.isAttached) await this.#showModel();
  }

  /** An output can find its notebook only after it was attached to the page. */
  protected override onAfterAttach(): void {
    if (this.widgets.length === 0) void this.#showModel();
  }

  override dispose(): void {
    this.#onDisposed?.();
    this.#onDisposed = undefined;
    super.dispose();
  }

  protected get panel(): NotebookPanel | null {
    return this.page.panelAround(this.node);
  }

  protected async showWidget(
    { data }: MimeModel,
    options?: { limit_ms: number; isHidden?: boolean },
  ): Promise<Outcome> {
    const { panel } = this;
    const id = modelId(data);
    if (id !== undefined && id === this.#shownId) return "shown";
    if (panel) this.#onDisposed = () => this.page.reportCleared(panel, data);
    const outcome = await showKernelWidget(this, panel, data, options);
    if (outcome === "shown") this.#shownId = id;
    return outcome;
  }

  /** An output may be updated while its widget is still being made. So wait for the widget. */
  async #showModel(): Promise<void> {
    const shown = this.#showing.then(async () => {
      const model = this.#model;
      this.#model = undefined;
      if (model && !this.isDisposed) await this.show(model);
    });
    this.#showing = shown.catch(() => {});
    await shown;
  }
}

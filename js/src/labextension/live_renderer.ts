import type { MimeModel } from "@jupyterlab/rendermime";
import { codeText } from "../dom/element.ts";
import { LIVE_MIME_TYPE, readNote, WIDGET_MIME_TYPE } from "./graph_mime.ts";
import type { Outcome } from "./kernel_widget.ts";
import { whyNoChart } from "./missing.ts";
import { OutputRenderer } from "./output_renderer.ts";

/** How long to wait until a notebook that is being opened has its kernel. */
const KERNEL_LIMIT_MS = 20_000;

/**
 * Shows a live chart if its kernel is running, and otherwise a text. JupyterLab itself would show
 * "Loading widget…" forever if there is no kernel, and an error if there is another kernel.
 */
export class LiveRenderer extends OutputRenderer {
  protected async show(model: MimeModel): Promise<void> {
    const outcome = await this.#showChart(model);
    if (outcome === "shown" || this.isDisposed) return;
    const note = document.createElement("p");
    note.className = "pdl-live-gone";
    const saved = readNote(model.data[LIVE_MIME_TYPE]);
    note.append(codeText(whyNoChart(this.page.plugins, saved, outcome)));
    this.node.replaceChildren(note);
  }

  async #showChart(model: MimeModel): Promise<Outcome> {
    const { panel } = this;
    if (!panel?.content.rendermime.getFactory(WIDGET_MIME_TYPE)) return "absent";
    const limit = new Promise<void>((resolve) => setTimeout(resolve, KERNEL_LIMIT_MS));
    await Promise.race([panel.sessionContext.ready, limit]);
    // A busy kernel answers after its cell. Until then the output shows that the chart is loading.
    return this.isDisposed ? "absent" : this.showWidget(model);
  }
}

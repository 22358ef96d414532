/**
 * The door for Jupyter: an anywidget module. It keeps nothing outside `render`, and it is small, since
 * every notebook that is saved carries it. The view comes with the model, packed; or from the
 * JupyterLab plugin, and then the model's copy is dropped before the notebook is saved.
 */
import type { AnyModel } from "@anywidget/types";
import { showFailure } from "./failure.ts";
import { offeredView, soonOfferedView, type WidgetViewModule } from "./offered_view.ts";
import { importScript, unpackScript } from "./packed_script.ts";
import type { WidgetState } from "./widget_view.ts";

type Model = AnyModel<WidgetState & ViewScript>;

interface ViewScript {
  /** The packed script of the view, or "". */
  _view_script: string;
  _view_build: string;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const controller = new AbortController();
  void show(model, el, controller.signal);
  return () => controller.abort();
}

async function show(model: Model, el: HTMLElement, signal: AbortSignal): Promise<void> {
  try {
    const { showWidget } = await loadView(model);
    if (!signal.aborted) {
      await showWidget(model as unknown as AnyModel<WidgetState>, el, signal);
    }
  } catch (error) {
    showFailure(el, error);
  }
}

async function loadView(model: Model): Promise<WidgetViewModule> {
  const script = model.get("_view_script");
  if (script) {
    const offered = offeredView();
    if (offered?.build !== model.get("_view_build")) {
      return importScript<WidgetViewModule>(await unpackScript(script));
    }
    // For the page alone: what it saves comes from here, and the kernel keeps its own.
    model.set("_view_script", "");
    return offered.load();
  }
  const offered = await soonOfferedView();
  if (!offered) {
    throw new Error(
      "This graph was saved without its view, which the paddle-lab plugin of JupyterLab draws. " +
        "Install paddle-lab where the Jupyter server runs and reload the page, or run the cell again.",
    );
  }
  return offered.load();
}

export default { initialize(): void {}, render };

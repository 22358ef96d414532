/**
 * The door for Jupyter: an anywidget module. It keeps nothing outside `render`, and it carries the
 * view packed, since every notebook that is saved carries this module.
 */
import packedView from "packed-script:./widget_view.ts";
import type { AnyModel } from "@anywidget/types";
import { showFailure } from "./failure.ts";
import { importScript, unpackScript } from "./packed_script.ts";
import type { WidgetState } from "./widget_view.ts";

interface RenderOptions {
  model: AnyModel<WidgetState>;
  el: HTMLElement;
}

function render({ model, el }: RenderOptions): () => void {
  const controller = new AbortController();
  void show(model, el, controller.signal);
  return () => controller.abort();
}

async function show(
  model: AnyModel<WidgetState>,
  el: HTMLElement,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { showWidget } = await importScript<typeof import("./widget_view.ts")>(
      await unpackScript(packedView),
    );
    if (!signal.aborted) {
      await showWidget(model, el, signal);
    }
  } catch (error) {
    showFailure(el, error);
  }
}

export default { initialize(): void {}, render };

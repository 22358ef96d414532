/**
 * The entry point for Jupyter: an anywidget module. It has no state except its model's, and it is
 * small, because every saved notebook contains it. The view comes packed with the model, or from the
 * JupyterLab plugin; in that case the model's copy is dropped before the notebook is saved.
 */

import type { AnyModel } from "@anywidget/types";
import { showFailure } from "./dom/failure.ts";
import {
  type DataTraits,
  dropData,
  keepData,
  payloadOf,
  storeWhileShown,
} from "./jupyter/kept_data.ts";
import { announce, countView } from "./jupyter/presence.ts";
import { type StandInTrait, takePlace } from "./jupyter/take_place.ts";
import { offeredView, soonOfferedView, type WidgetViewModule } from "./offered_view.ts";
import { decodeBase64 } from "./trace/base64.ts";
import { inflate } from "./trace/inflate.ts";
import type { WidgetState } from "./widget_view.ts";
import { t } from "./words/loader.ts";
import { speak } from "./words/say.ts";

type Model = AnyModel<WidgetState & DataTraits & StandInTrait & ViewScript>;

interface ViewScript {
  /** The packed script of the view, or "". */
  _view_script: string;
  _view_build: string;
}

/** Called when the page has received a model. The kernel displays the model a moment later. */
function initialize({ model }: { model: Model }): void {
  takePlace(model as unknown as AnyModel<StandInTrait>);
  const data = model as unknown as AnyModel<DataTraits>;
  keepData(data);
  data.on("change:_data", () => keepData(data));
  data.on("change:_stored", () => keepData(data));
  model.on("destroy", () => {
    dropData(data);
    // Set the value twice, to replace both the current and the previous value.
    for (let set = 0; set < 2; set++) model.set("_view_script", "");
  });
  announce(model);
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const controller = new AbortController();
  countView(model, controller.signal);
  void show(model, el, controller.signal);
  return () => controller.abort();
}

async function show(model: Model, el: HTMLElement, signal: AbortSignal): Promise<void> {
  const data = model as unknown as AnyModel<DataTraits>;
  storeWhileShown(data, signal);
  try {
    speak(model.get("_language"));
    const { showWidget } = await loadView(model);
    if (signal.aborted) return;
    const state = model as unknown as AnyModel<WidgetState>;
    await showWidget(state, payloadOf(data), el, signal);
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
    // Change the value only in this page, which saves it. The kernel keeps its own value.
    model.set("_view_script", "");
    return offered.load();
  }
  const offered = await soonOfferedView();
  if (!offered) {
    throw new Error(t("no_view"));
  }
  return offered.load();
}

export default { initialize, render };

/**
 * Unpack the script of the view, which is base64 of a zlib stream.
 *
 * @returns the text of the script, whose variable `bundled` has the exports
 */
async function unpackScript(packed: string): Promise<string> {
  return new TextDecoder().decode(await inflate(decodeBase64(packed)));
}

/** Run a script and return its exports. It is loaded from a blob, like widgets. */
async function importScript<Exports>(script: string): Promise<Exports> {
  const blob = new Blob([`${script}\n;export default bundled;`], { type: "text/javascript" });
  const address = URL.createObjectURL(blob);
  try {
    const module: { default: Exports } = await import(/* @vite-ignore */ address);
    return module.default;
  } finally {
    URL.revokeObjectURL(address);
  }
}

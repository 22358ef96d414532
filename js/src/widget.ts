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

const VIEWS = Symbol.for("paddle-lab.views");
/** A page never lets go of a module, so it loads each build once, not for each widget. */
type Page = typeof globalThis & { [VIEWS]?: Map<string, Promise<WidgetViewModule>> };

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
    const [offered, build] = [offeredView(), model.get("_view_build")];
    if (offered?.build !== build) {
      const page: Page = globalThis;
      page[VIEWS] ??= new Map();
      const views = page[VIEWS];
      const view = views.get(build) ?? importView(script);
      views.set(build, view);
      view.catch(() => views.delete(build)); // the next widget tries again
      return view;
    }
    // Change the value only in this page, which saves it. The kernel keeps its own value.
    model.set("_view_script", "");
    return offered.load();
  }
  const offered = await soonOfferedView();
  if (!offered) throw new Error(t("no_view"));
  return offered.load();
}

export default { initialize, render };

/** Run the packed script of the view, base64 of a zlib stream, from a blob, as widgets are loaded. */
async function importView(packed: string): Promise<WidgetViewModule> {
  const script = new TextDecoder().decode(await inflate(decodeBase64(packed)));
  const blob = new Blob([`${script}\n;export default bundled;`], { type: "text/javascript" });
  const address = URL.createObjectURL(blob);
  try {
    const module: { default: WidgetViewModule } = await import(/* @vite-ignore */ address);
    return module.default;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/**
 * The entry point of the live chart in Jupyter. It is a separate anywidget module, because every
 * saved notebook contains it, and the chart does not need the views of the graph.
 */
import type { AnyModel } from "@anywidget/types";
import css from "built-live.css";
import { showFailure } from "./dom/failure.ts";
import { installStyle } from "./dom/install_style.ts";
import { announce, countView } from "./jupyter/presence.ts";
import { type StandInTrait, takePlace } from "./jupyter/take_place.ts";
import { type LiveState, showLive } from "./live/live_view.ts";

interface RenderOptions {
  model: AnyModel<LiveState>;
  el: HTMLElement;
}

function render({ model, el }: RenderOptions): () => void {
  const controller = new AbortController();
  countView(model, controller.signal);
  installStyle(css, "paddle-lab-live-style");
  showLive(model, el, controller.signal).catch((error: unknown) => showFailure(el, error));
  return () => controller.abort();
}

function initialize({ model }: Pick<RenderOptions, "model">): void {
  takePlace(model as unknown as AnyModel<StandInTrait>);
  announce(model);
}

export default { initialize, render };

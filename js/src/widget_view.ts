/** The view as a widget, synchronised with the traits in Python. */

import type { AnyModel } from "@anywidget/types";
import css from "built-widget.css";
import { showFailure } from "./dom/failure.ts";
import { installStyle } from "./dom/install_style.ts";
import { ask } from "./jupyter/asking.ts";
import { inGraph } from "./model/state/owner.ts";
import type { Mode, Selection } from "./model/state/view_state.ts";
import { showPayload } from "./payload.ts";
import type { Trace } from "./trace/trace.ts";
import type { App } from "./views/app.ts";
import type { Value, ValueSource } from "./views/facts/value_answer.ts";
import { t } from "./words/page.ts";
import { speak } from "./words/say.ts";

export interface WidgetState {
  /** The graph to show first. */
  _view: Mode;
  /** Language before the trace's own language is known: "en" or "zh". */
  _language: string;
  /** The height in CSS px. If it is 0, the style sheet sets the height. */
  _height: number;
  /** The key of the selected op, -1 for none. */
  selected_op: number;
  selected_grad_node: number;
}

/** Show the graph in `el` until `signal` is aborted. */
export async function showWidget(
  model: AnyModel<WidgetState>,
  payload: Uint8Array,
  el: HTMLElement,
  signal: AbortSignal,
): Promise<void> {
  installStyle(css, "paddle-lab-style");
  if (!payload.length) {
    speak(model.get("_language"));
    showFailure(el, t("app.not_saved"));
    return;
  }
  const height = model.get("_height") || undefined;
  const onSelect = (selection: Selection, trace: Trace): void =>
    tellKernel(model, inGraph(trace, selection));
  const mode = model.get("_view");
  const page = (): Promise<Blob> => askForPage(model);
  const options = {
    onSelect,
    page,
    values: valuesOf(model),
    isStandalone: false,
    view: mode,
    ...(height ? { height } : {}),
  };
  const app = await showPayload(el, payload, options, signal);
  if (!app) {
    return;
  }
  if (mode && mode !== app.store.state.mode) {
    app.store.update({ mode });
  }
  const follow = (): void => followKernel(model, app);
  const events = ["change:selected_op", "change:selected_grad_node"] as const;
  for (const event of events) {
    model.on(event, follow);
  }
  follow();
  signal.addEventListener("abort", () => {
    for (const event of events) {
      model.off(event, follow);
    }
    app.dispose();
  });
}

function valuesOf(model: AnyModel<WidgetState>): ValueSource {
  const silence = (): string => t("value.no_kernel");
  return {
    async ask(subjects, position, watch) {
      const question = { subjects, position };
      const { answer, buffers } = await ask<{ parts: Value[] }>(
        model,
        "value",
        question,
        silence,
        watch,
      );
      // Copies: numbers of eight bytes must begin at a multiple of eight.
      const bytes = buffers.map((view) =>
        view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength),
      );
      return answer.parts.map((part, at) => ({
        ...part,
        heat: new Float64Array(bytes[2 * at]!),
        channels: new Float64Array(bytes[2 * at + 1]!),
      }));
    },
    async file(subject) {
      const question = { subjects: [subject], position: [], file: true };
      return new Blob((await ask(model, "value", question, silence)).buffers);
    },
  };
}

function tellKernel(model: AnyModel<WidgetState>, selection: Selection): void {
  const op = selection.kind === "op" ? selection.op : -1;
  const gradNode = selection.kind === "grad_node" ? selection.gradNode : -1;
  if (model.get("selected_op") !== op || model.get("selected_grad_node") !== gradNode) {
    model.set("selected_op", op);
    model.set("selected_grad_node", gradNode);
    model.save_changes();
  }
}

/** Select in the page what is selected in Python, unless it is selected already. */
function followKernel(model: AnyModel<WidgetState>, { store }: App): void {
  const op = model.get("selected_op") ?? -1;
  const gradNode = model.get("selected_grad_node") ?? -1;
  const selection = store.selectionInGraph;
  if (op >= 0 && op < store.trace.opCount) {
    if (selection.kind !== "op" || selection.op !== op) {
      store.select({ kind: "op", op }, { reveal: true });
    }
  } else if (gradNode >= 0 && gradNode < store.trace.gradNodeCount) {
    if (selection.kind !== "grad_node" || selection.gradNode !== gradNode) {
      store.select({ kind: "grad_node", gradNode }, { reveal: true });
    }
  } else if (selection.kind === "op" || selection.kind === "grad_node") {
    store.select({ kind: "none" });
  }
}

/**
 * Ask the kernel for the graph as an HTML page. Only the kernel has the whole trace and the scripts.
 *
 * @throws Error with a readable message if no kernel answers, or the kernel makes no page
 */
async function askForPage(model: AnyModel): Promise<Blob> {
  const { buffers } = await ask(model, "page", {}, () => t("export.no_kernel"));
  return new Blob(buffers, { type: "text/html" });
}

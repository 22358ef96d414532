/** Chooses the backward call to show, if a cell made several. */

import { chooser, element } from "../../dom/element.ts";
import type { Store } from "../../model/state/store.ts";
import { isGraph, type ViewState } from "../../model/state/view_state.ts";
import { t } from "../../words/page.ts";
import { backwardCallName } from "../names/backward_call.ts";

/** With more calls, users type the number: a list of ten thousand lines would freeze the page. */
const MOST_LISTED = 300;

/**
 * @param root a `.pdl-calls` element
 * @returns a function that removes the chooser
 */
export function mountCallChooser(root: HTMLElement, store: Store): () => void {
  const count = store.trace.table("backward_calls").length;
  const field = count > MOST_LISTED ? numberField(store, count) : callList(store, count);
  root.append(...field.elements);
  render(store.state);

  function render({ mode, backwardCall }: ViewState): void {
    root.hidden = count < 2 || mode === "forward" || !isGraph(mode);
    field.show(backwardCall);
  }

  return store.subscribe(render);
}

interface Field {
  readonly elements: readonly (HTMLElement | string)[];
  show(call: number): void;
}

function callList(store: Store, count: number): Field {
  const select = chooser(
    { "aria-label": t("calls.backward_call"), title: t("calls.which") },
    Array.from({ length: count }, (_, call) => [call, backwardCallName(store.trace, call)]),
    (backwardCall) => store.update({ backwardCall }),
  );
  return {
    elements: [select],
    show(call) {
      select.value = String(call);
    },
  };
}

function numberField(store: Store, count: number): Field {
  const input = element("input", {
    class: "pdl-button",
    type: "number",
    min: 1,
    max: count,
    "aria-label": t("calls.backward_call"),
    onchange: () => {
      const asked = Math.round(Number(input.value));
      const call = Math.max(1, Math.min(count, asked || 1)) - 1;
      show(call);
      store.update({ backwardCall: call });
    },
  });

  function show(call: number): void {
    input.value = String(call + 1);
    input.title = backwardCallName(store.trace, call);
  }

  return { elements: [t("calls.call"), " ", input, " ", t("calls.of", { n: count })], show };
}

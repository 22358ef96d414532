/** The line above the picture that says what is isolated, or asks for the other end of a path. */

import { button, element } from "../../dom/element.ts";
import type { Store } from "../../model/state/store.ts";
import {
  type Isolation,
  isGraph,
  type Selection,
  type ViewState,
} from "../../model/state/view_state.ts";
import { backwardLeaves, forwardLeaves } from "../../model/visible/leaves.ts";
import { t } from "../../words/page.ts";
import { leave } from "../actions/isolating.ts";

/**
 * @param root the `.pdl-isolation` element
 * @returns a function that removes the line
 */
export function mountIsolationBar(root: HTMLElement, store: Store): () => void {
  /** The message that no path connects the two ends; "" for none. */
  let refusal = "";
  root.setAttribute("role", "status");
  const unsubscribe = store.subscribe((state, previous) => {
    const isChosen = state.selection !== previous.selection && state.selection.kind !== "none";
    if (isChosen && previous.wayFrom.kind !== "none" && state.wayFrom === previous.wayFrom) {
      endWay(state);
      return;
    }
    if (isChosen || state.wayFrom !== previous.wayFrom || state.isolation !== previous.isolation)
      refusal = "";
    const names = ["isolation", "wayFrom", "selection", "mode", "backwardCall", "showOptimizer"];
    if ((names as (keyof ViewState)[]).some((name) => state[name] !== previous[name])) render();
  });
  render();

  function endWay({ wayFrom, selection }: ViewState): void {
    const [from, to] = [wayFrom, selection].map((end) => selectionName(store, end));
    if (!store.isolate("between", wayFrom, selection)) {
      store.update({ wayFrom: { kind: "none" } });
      refusal = t("isolate.no_way", { from: from!, to: to! });
      render();
    }
  }

  function render(): void {
    const { isolation, wayFrom, mode } = store.state;
    const isAsking = wayFrom.kind !== "none";
    root.hidden = !isGraph(mode) || !(isolation || isAsking || refusal);
    if (root.hidden) return;
    const text = refusal
      ? [refusal]
      : isAsking
        ? [t("isolate.way_from", { from: selectionName(store, wayFrom) })]
        : [t("isolate.isolated"), element("strong", {}, said(isolation!)), `· ${counted()}`];
    const close = (): void => {
      // The message may be shown above a part that is still isolated.
      const isRefused = refusal !== "";
      refusal = "";
      if (isRefused) render();
      else leave(store);
    };
    const label = refusal ? "isolate.close" : isAsking ? "isolate.cancel" : "isolate.show_all";
    root.replaceChildren(
      element("span", {}, ...text.flatMap((part) => [part, " "])),
      button(t(label), close, {}, " Esc"),
    );
  }

  function said({ way, from, to, isBackward }: Isolation): string {
    const name = (selection: Selection): string => {
      const own = selectionName(store, selection);
      const isClear =
        !isBackward || selection.kind === "grad_node" || selection.kind === "gradient";
      return isClear ? own : t("isolate.backward_of", { name: own });
    };
    return way === "between"
      ? t("isolate.said_between", { from: name(from), to: name(to) })
      : t(`isolate.said_${way}`, { name: name(from) });
  }

  /** "12 of 108 ops", of the ops that the picture has without the isolation. */
  function counted(): string {
    const { trace, hierarchy, state } = store;
    const isBackward = state.mode === "backward";
    const leavesOf = isBackward ? backwardLeaves : forwardLeaves;
    const [n, all] = [state, { ...state, isolation: undefined }].map((one) =>
      leavesOf(trace, hierarchy, one).isShown.reduce((sum, isIn) => sum + isIn, 0),
    );
    return t(isBackward ? "count.grad_node_of" : "count.op_of", { n: n!, all: all! });
  }

  return () => {
    unsubscribe();
    root.replaceChildren();
  };
}

/** "linear #3", "layers.0", "weight"; "" if nothing is selected. */
function selectionName({ trace }: Pick<Store, "trace">, selection: Selection): string {
  switch (selection.kind) {
    case "op":
      return `${trace.opLabel(selection.op)} #${selection.op}`;
    case "grad_node":
      return trace.gradNodeLabel(selection.gradNode);
    case "group":
      return trace.groupName(selection.group);
    case "tensor": {
      const { tensor } = selection;
      const producer = trace.at("tensors", "producer", tensor);
      const name = trace.textAt("tensors", "path", tensor) || trace.tensorLabel(tensor);
      const of = producer >= 0 ? `${trace.opLabel(producer)} #${producer}` : "";
      return of ? t("isolate.output_of", { op: of }) : name || t("isolate.tensor");
    }
    case "gradient": {
      const node = trace.at("grad_edges", "source", selection.edge);
      return node >= 0 ? t("isolate.gradient_from", { node: trace.gradNodeLabel(node) }) : "";
    }
    case "line":
      return t("isolate.line", { line: selection.line });
    case "allocation":
      return t("isolate.block");
    case "none":
      return "";
  }
}

/** The line below the picture: the selection, and how many ops are shown. */

import { element } from "../dom/element.ts";
import type { Store } from "../model/state/store.ts";
import { isGraph } from "../model/state/view_state.ts";
import { backwardLeaves, forwardLeaves, type Leaves } from "../model/visible/leaves.ts";
import { t } from "../words/page.ts";
import { blockLine } from "./details/allocation.ts";
import { gradientName } from "./details/numbers/gradient.ts";
import type { Scene } from "./scene/scene.ts";

export class StatusLine {
  readonly #selection = element("span", { "aria-live": "polite", class: "pdl-status-selection" });
  readonly #shown = element("span");
  readonly #unsubscribe: () => void;

  constructor(
    root: HTMLElement,
    readonly store: Store,
  ) {
    root.append(this.#selection, element("span", { class: "pdl-grow" }), this.#shown);
    this.#unsubscribe = store.subscribe((state, previous) => {
      if (state.selection !== previous.selection || state.mode !== previous.mode) {
        this.#renderSelection();
      }
    });
    this.#renderSelection();
  }

  dispose(): void {
    this.#unsubscribe();
  }

  shows(scene: Scene): void {
    const { trace, hierarchy, state } = this.store;
    const boxes = scene.boxes.length;
    const { opCount, gradNodeCount } = trace;
    const shown: string[] = [];
    if (state.mode !== "backward") {
      const n = countShown(forwardLeaves(trace, hierarchy, state));
      shown.push(t(n < opCount ? "count.op_of" : "count.op", { n, all: opCount }));
    }
    if (state.mode !== "forward") {
      const n = countShown(backwardLeaves(trace, hierarchy, state));
      const isPart = n < gradNodeCount;
      shown.push(t(isPart ? "count.grad_node_of" : "count.grad_node", { n, all: gradNodeCount }));
    }
    this.#shown.textContent = boxes ? t("status.shown", { boxes, shown: shown.join(" · ") }) : "";
  }

  #renderSelection(): void {
    this.#shown.hidden = !isGraph(this.store.state.mode);
    const text = this.#describe();
    const sentences = text.split(/(?<=\. |。)/);
    this.#selection.replaceChildren(...sentences.map((said) => element("span", {}, said)));
    // A narrow view shows only the sentences that fit, so the tooltip has all of them.
    this.#selection.title = text;
  }

  #describe(): string {
    const { trace } = this.store;
    const { selection } = this.store.state;
    switch (selection.kind) {
      case "op": {
        const nodes = trace.gradNodesOfOp(selection.op).length;
        const parts = [
          `${trace.opLabel(selection.op)} #${selection.op}`,
          trace.layerOf(selection.op),
          nodes ? `↔ ${trace.gradNodeLabel(trace.gradNodesOfOp(selection.op)[0]!)}` : "",
        ];
        return parts.filter(Boolean).join(" · ");
      }
      case "grad_node": {
        const op = trace.pairedOp(selection.gradNode);
        const pair = op >= 0 ? ` ↔ ${trace.opLabel(op)} #${op}` : "";
        return trace.gradNodeLabel(selection.gradNode) + pair;
      }
      case "group":
        return trace.groupName(selection.group);
      case "gradient":
        return gradientName(trace, selection.edge);
      case "tensor": {
        const { tensor } = selection;
        const name = trace.textAt("tensors", "path", tensor) || trace.tensorLabel(tensor);
        return `${name} ${trace.textAt("tensors", "shape", tensor)}`.trim();
      }
      case "line": {
        const count = this.store.litOps().reduce((sum, lit) => sum + lit, 0);
        return t("status.line", { line: selection.line, n: count });
      }
      case "allocation":
        return blockLine(trace, selection.allocation);
      default: {
        const { mode } = this.store.state;
        return isGraph(mode) ? t("status.hint") : t(`status.hint_${mode}`);
      }
    }
  }
}

/** How many ops or grad nodes the picture contains. */
function countShown({ isShown }: Leaves): number {
  return isShown.reduce((sum, one) => sum + one, 0);
}

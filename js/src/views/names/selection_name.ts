/** A short name for the selection. */
import type { Store } from "../../model/state/store.ts";
import type { Selection } from "../../model/state/view_state.ts";
import { t } from "../../words/page.ts";

/** "linear #3", "layers.0", "weight"; "" if nothing is selected. */
export function selectionName({ trace }: Pick<Store, "trace">, selection: Selection): string {
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

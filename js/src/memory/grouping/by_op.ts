/** Groups blocks by the op or grad node that made them. */

import { layersOfTensors } from "../../model/graph/layer_names.ts";
import type { Selection } from "../../model/state/view_state.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { kindLabel } from "../blocks/kinds.ts";
import type { Groups } from "./groups.ts";

/**
 * Groups blocks by op; in backward by grad node; blocks from before the trace by tensor.
 *
 * Ops come first, so the number of such a group is the number of the op. Then come grad nodes,
 * tensors, and a group for the rest.
 */
export function byOp(trace: Trace): Groups {
  const table = trace.table("allocations");
  const [opOf, gradNodeOf, tensorOf] = trace.columns("allocations", "op", "grad_node", "tensor");
  const paths = trace.table("tensors").column("path");
  const opEnd = trace.opCount;
  const gradEnd = opEnd + trace.gradNodeCount;
  const none = gradEnd + paths.length;
  const groupOf = new Int32Array(table.length);
  /** For each group: the first tensor with a name that was made there, -1 for none. */
  const made = new Int32Array(none + 1).fill(-1);
  for (let row = 0; row < groupOf.length; row++) {
    const [gradNode, op, tensor] = [gradNodeOf[row]!, opOf[row]!, tensorOf[row]!];
    const group =
      gradNode >= 0 ? opEnd + gradNode : op >= 0 ? op : tensor >= 0 ? gradEnd + tensor : none;
    groupOf[row] = group;
    if (tensor >= 0 && paths[tensor]! > 0 && made[group]! < 0) {
      made[group] = tensor;
    }
  }
  let layers: Int32Array | undefined;
  const pathOf = (tensor: number): string => {
    const path = trace.textAt("tensors", "path", tensor);
    if (!path) {
      return "";
    }
    layers ??= layersOfTensors(trace);
    return [trace.text(layers[tensor]!), path.slice(path.lastIndexOf(".") + 1)]
      .filter(Boolean)
      .join(".");
  };
  const selection = (group: number): Selection => {
    if (group < opEnd) return { kind: "op", op: group };
    if (group < gradEnd) return { kind: "grad_node", gradNode: group - opEnd };
    return group < none ? { kind: "tensor", tensor: group - gradEnd } : { kind: "none" };
  };
  let kinds: ReadonlyMap<number, number> | undefined;
  /**
   * In the graph, an optimizer state is a buffer, and an input is external. So the kind comes from
   * here.
   */
  const kindAndShapeOf = (tensor: number): string => {
    kinds ??= kindsOfTensors(trace);
    const kind = kinds.get(tensor);
    return kind === undefined
      ? kindAndShape(trace, tensor)
      : `${kindLabel(kind)} ${trace.textAt("tensors", "shape", tensor)}`;
  };
  return {
    groupOf,
    count: none + 1,
    label(group) {
      const chosen = selection(group);
      if (chosen.kind === "tensor") {
        return (
          pathOf(chosen.tensor) ||
          trace.textAt("tensors", "name", chosen.tensor) ||
          kindAndShapeOf(chosen.tensor)
        );
      }
      return labelOf(trace, chosen);
    },
    note(group) {
      // The name of a tensor is more useful than the op that made it.
      const [chosen, tensor] = [selection(group), made[group]!];
      if (chosen.kind === "tensor") {
        return hasName(trace, chosen.tensor) ? kindAndShapeOf(chosen.tensor) : "";
      }
      return (chosen.kind === "op" && tensor >= 0 && pathOf(tensor)) || noteOf(trace, chosen);
    },
    selection,
  };
}

export function labelOf(trace: Trace, selection: Selection): string {
  switch (selection.kind) {
    case "op":
      return `${trace.opLabel(selection.op)} #${selection.op}`;
    case "grad_node": {
      const parameter = trace.at("grad_nodes", "parameter", selection.gradNode);
      const op = trace.at("grad_nodes", "op", selection.gradNode);
      const name = trace.gradNodeLabel(selection.gradNode);
      return parameter >= 0
        ? t("tooltip.gradient_of", { op: tensorName(trace, parameter) })
        : op >= 0
          ? `${name} ↔ #${op}`
          : name;
    }
    case "tensor":
      return tensorName(trace, selection.tensor);
    default:
      return t("memory.no_op");
  }
}

function noteOf(trace: Trace, selection: Selection): string {
  switch (selection.kind) {
    case "op":
      return trace.layerOf(selection.op) || t(`phase.${trace.phaseOf(selection.op)}`);
    case "grad_node": {
      const op = trace.at("grad_nodes", "op", selection.gradNode);
      return (op >= 0 && trace.layerOf(op)) || t("phase.backward");
    }
    default:
      return "";
  }
}

function tensorName(trace: Trace, tensor: number): string {
  return (
    trace.textAt("tensors", "path", tensor) ||
    trace.textAt("tensors", "name", tensor) ||
    kindAndShape(trace, tensor)
  );
}

function hasName(trace: Trace, tensor: number): boolean {
  return trace.at("tensors", "path", tensor) > 0 || trace.textAt("tensors", "name", tensor) !== "";
}

/** The kind of each tensor's memory, as a position in MEMORY_KINDS. */
function kindsOfTensors(trace: Trace): ReadonlyMap<number, number> {
  const table = trace.table("allocations");
  const [tensorOf, kindOf] = trace.columns("allocations", "tensor", "kind");
  const kinds = new Map<number, number>();
  for (let row = 0; row < table.length; row++) {
    if (tensorOf[row]! >= 0) {
      kinds.set(tensorOf[row]!, kindOf[row]!);
    }
  }
  return kinds;
}

function kindAndShape(trace: Trace, tensor: number): string {
  return `${t(`tensor_kind.${trace.tensorKind(tensor)}`)} ${trace.textAt("tensors", "shape", tensor)}`;
}

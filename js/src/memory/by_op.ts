/** Blocks by what made them in the graph. */
import type { Selection } from "../model/store.ts";
import type { Trace } from "../model/trace.ts";
import type { Groups } from "./grouping.ts";
import { LayerNames } from "./layer_names.ts";
import { Numbers } from "./numbering.ts";

/** Ops; in the backward, grad nodes; of blocks from before, their tensors. */
export function byOp(trace: Trace): Groups {
  const { length } = trace.table("allocations");
  const opOf = trace.table("allocations").column("op");
  const gradNodeOf = trace.table("allocations").column("grad_node");
  const tensorOf = trace.table("allocations").column("tensor");
  const opEnd = trace.opCount;
  const gradEnd = opEnd + trace.gradNodeCount;
  const numbers = new Numbers(gradEnd + trace.table("tensors").length);
  const groupOf = new Int32Array(length);
  /** A tensor with a name that the op made: what was made says more than where. */
  const made: number[] = [];
  const paths = trace.table("tensors").column("path");
  for (let row = 0; row < length; row++) {
    const [gradNode, op, tensor] = [gradNodeOf[row]!, opOf[row]!, tensorOf[row]!];
    const group = numbers.of(
      gradNode >= 0 ? opEnd + gradNode : op >= 0 ? op : tensor >= 0 ? gradEnd + tensor : -1,
    );
    groupOf[row] = group;
    if (tensor >= 0 && paths[tensor]! > 0) {
      made[group] ??= tensor;
    }
  }
  let layers: LayerNames | undefined;
  const pathOf = (tensor: number): string => {
    const path = trace.textAt("tensors", "path", tensor);
    if (!path) {
      return "";
    }
    layers ??= new LayerNames(trace);
    return [layers.ownerOf(tensor), path.slice(path.lastIndexOf(".") + 1)]
      .filter(Boolean)
      .join(".");
  };
  const selection = (group: number): Selection => {
    const key = numbers.keys[group]!;
    if (key < 0) {
      return { kind: "none" };
    }
    return key < opEnd
      ? { kind: "op", op: key }
      : key < gradEnd
        ? { kind: "grad_node", gradNode: key - opEnd }
        : { kind: "tensor", tensor: key - gradEnd };
  };
  return {
    groupOf,
    count: numbers.keys.length,
    label(group) {
      const chosen = selection(group);
      return (chosen.kind === "tensor" && pathOf(chosen.tensor)) || labelOf(trace, chosen);
    },
    note(group) {
      const [chosen, tensor] = [selection(group), made[group]];
      return (
        (chosen.kind === "op" && tensor !== undefined && pathOf(tensor)) || noteOf(trace, chosen)
      );
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
        ? `gradient of ${tensorName(trace, parameter)}`
        : op >= 0
          ? `${name} ↔ #${op}`
          : name;
    }
    case "tensor":
      return tensorName(trace, selection.tensor);
    default:
      return "no op of this trace";
  }
}

function noteOf(trace: Trace, selection: Selection): string {
  switch (selection.kind) {
    case "op":
      return trace.layerOf(selection.op) || trace.phaseOf(selection.op);
    case "grad_node": {
      const op = trace.at("grad_nodes", "op", selection.gradNode);
      return (op >= 0 && trace.layerOf(op)) || "backward";
    }
    case "tensor":
      return hasName(trace, selection.tensor) ? kindAndShape(trace, selection.tensor) : "";
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
  return tensorName(trace, tensor) !== kindAndShape(trace, tensor);
}

function kindAndShape(trace: Trace, tensor: number): string {
  return `${trace.tensorKind(tensor)} ${trace.textAt("tensors", "shape", tensor)}`;
}

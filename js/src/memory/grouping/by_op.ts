/** Blocks by what made them in the graph. */

import type { Selection } from "../../model/state/view_state.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { kindLabel } from "../blocks/kinds.ts";
import type { Groups } from "./groups.ts";
import { layersOfTensors } from "./layer_names.ts";
import { Numbers } from "./numbering.ts";

/** Which op, grad node or tensor each block is counted with, as columns alone. */
export interface OpNumbers {
  /** Group by row of `allocations`. */
  readonly groupOf: Int32Array;
  /** By group: an op, behind the ops a grad node, behind those a tensor; -1 for none. */
  readonly keys: readonly number[];
  /** By group: a tensor with a name that the op made, where there is one. */
  readonly made: readonly (number | undefined)[];
}

export function opNumbers(trace: Trace): OpNumbers {
  const table = trace.table("allocations");
  const opOf = table.column("op");
  const gradNodeOf = table.column("grad_node");
  const tensorOf = table.column("tensor");
  const paths = trace.table("tensors").column("path");
  const opEnd = trace.opCount;
  const gradEnd = opEnd + trace.gradNodeCount;
  const numbers = new Numbers(gradEnd + paths.length);
  const groupOf = new Int32Array(table.length);
  const made: (number | undefined)[] = [];
  for (let row = 0; row < groupOf.length; row++) {
    const gradNode = gradNodeOf[row]!;
    const op = opOf[row]!;
    const tensor = tensorOf[row]!;
    const group = numbers.of(
      gradNode >= 0 ? opEnd + gradNode : op >= 0 ? op : tensor >= 0 ? gradEnd + tensor : -1,
    );
    groupOf[row] = group;
    if (tensor >= 0 && paths[tensor]! > 0) {
      made[group] ??= tensor;
    }
  }
  return { groupOf, keys: numbers.keys, made };
}

/** Ops; in the backward, grad nodes; of blocks from before, their tensors. */
export function byOp(trace: Trace, { groupOf, keys, made }: OpNumbers): Groups {
  const opEnd = trace.opCount;
  const gradEnd = opEnd + trace.gradNodeCount;
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
    const key = keys[group]!;
    if (key < 0) {
      return { kind: "none" };
    }
    return key < opEnd
      ? { kind: "op", op: key }
      : key < gradEnd
        ? { kind: "grad_node", gradNode: key - opEnd }
        : { kind: "tensor", tensor: key - gradEnd };
  };
  let kinds: ReadonlyMap<number, number> | undefined;
  /** The graph calls an optimizer's state a buffer, and an input external. */
  const kindAndShapeOf = (tensor: number): string => {
    kinds ??= kindsOfTensors(trace);
    const kind = kinds.get(tensor);
    return kind === undefined
      ? kindAndShape(trace, tensor)
      : `${kindLabel(kind)} ${trace.textAt("tensors", "shape", tensor)}`;
  };
  return {
    groupOf,
    count: keys.length,
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
      // A tensor with a name says more than where it was made.
      const [chosen, tensor] = [selection(group), made[group]];
      if (chosen.kind === "tensor") {
        return hasName(trace, chosen.tensor) ? kindAndShapeOf(chosen.tensor) : "";
      }
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

/** What the memory of each tensor that has any is: a position in MEMORY_KINDS. */
function kindsOfTensors(trace: Trace): ReadonlyMap<number, number> {
  const table = trace.table("allocations");
  const tensorOf = table.column("tensor");
  const kindOf = table.column("kind");
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

/** Blocks by layer. */
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import type { Groups } from "./groups.ts";
import { LayerNames } from "./layer_names.ts";
import { remembered } from "./numbering.ts";

/** Layers by name, all their calls in one; a parameter from before the trace is its layer's. */
export function byLayer(trace: Trace): Groups {
  const layers = new LayerNames(trace);
  const groups = firstGroups(trace, layers);
  const names: string[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (name: string): number => {
    const number = numbers.get(name) ?? names.push(name) - 1;
    numbers.set(name, number);
    return number;
  };
  const outside = numberOf("");
  const ofScope = remembered(layers.layerOfScope.length, (scope) => {
    const layer = layers.layerOfScope[scope]!;
    return layer >= 0 ? numberOf(layers.names[layer]!) : outside;
  });
  const ofTensor = remembered(trace.table("tensors").length, (tensor) =>
    numberOf(layers.ownerOf(tensor)),
  );
  const table = trace.table("allocations");
  const scopeOfOp = trace.table("ops").column("scope");
  const parameterOf = trace.table("grad_nodes").column("parameter");
  const gradNodeOf = table.column("grad_node");
  const scopeOf = table.column("scope");
  const tensorOf = table.column("tensor");
  // Inside a backward call the op says whose gradient it is; the scope is the call.
  const opOf = table.column("op");
  const groupOf = new Int32Array(table.length);
  for (let row = 0; row < groupOf.length; row++) {
    const [op, scope, gradNode] = [opOf[row]!, scopeOf[row]!, gradNodeOf[row]!];
    const parameter = gradNode >= 0 ? parameterOf[gradNode]! : -1;
    const tensor = parameter >= 0 ? parameter : tensorOf[row]!;
    groupOf[row] =
      (op >= 0 && scopeOfOp[op]! >= 0 && ofScope(scopeOfOp[op]!)) ||
      (scope >= 0 && ofScope(scope)) ||
      (tensor >= 0 ? ofTensor(tensor) : outside);
  }
  const groupNamed = (number: number): number => groups.get(names[number]!) ?? -1;
  return {
    groupOf,
    count: names.length,
    label: (number) => names[number] || t("memory.outside_layers"),
    note: (number) => {
      const group = groupNamed(number);
      return group >= 0 ? trace.textAt("groups", "class", group) : "";
    },
    selection: (number) => {
      const group = groupNamed(number);
      return group >= 0 ? { kind: "group", group } : { kind: "none" };
    },
  };
}

/** The first call of each layer in the graph, by the layer's name. */
function firstGroups(trace: Trace, layers: LayerNames): Map<string, number> {
  const groups = new Map<string, number>();
  for (let group = 0; group < trace.groupCount; group++) {
    const scope = trace.groupKind(group) === "layer" ? trace.at("groups", "scope", group) : -1;
    const name = scope >= 0 ? layers.names[layers.layerOfScope[scope]!] : undefined;
    if (name && !groups.has(name)) {
      groups.set(name, group);
    }
  }
  return groups;
}

/** Blocks by layer. */
import type { Trace } from "../model/trace.ts";
import type { Groups } from "./grouping.ts";
import { remembered } from "./numbering.ts";

/** Layers by path; a parameter from before the trace is its layer's. */
export function byLayer(trace: Trace): Groups {
  const paths: string[] = [];
  const numbers = new Map<string, number>();
  const groups: number[] = [];
  const numberOf = (path: string, group: number): number => {
    let number = numbers.get(path);
    if (number === undefined) {
      number = paths.push(path) - 1;
      numbers.set(path, number);
      groups.push(group);
    }
    return number;
  };
  const ofGroup = remembered(trace.groupCount, (group) => {
    const layer = layerGroup(trace, group);
    return numberOf(layer < 0 ? "" : trace.groupName(layer), layer);
  });
  const layerGroups = new Map<string, number>();
  for (let group = 0; group < trace.groupCount; group++) {
    if (trace.groupKind(group) === "layer" && !layerGroups.has(trace.groupName(group))) {
      layerGroups.set(trace.groupName(group), group);
    }
  }
  const ofTensor = remembered(trace.table("tensors").length, (tensor) => {
    const path = trace.textAt("tensors", "path", tensor);
    const layer = path.slice(0, Math.max(0, path.lastIndexOf(".")));
    return numberOf(layer, layerGroups.get(layer) ?? -1);
  });
  const ofScope = remembered(trace.table("scopes").length, (scope) => {
    const path = layerOfScope(trace, scope);
    return numberOf(path, layerGroups.get(path) ?? -1);
  });
  const table = trace.table("allocations");
  const groupOfOp = trace.table("op_groups").column("group");
  const parameterOf = trace.table("grad_nodes").column("parameter");
  const gradNodeOf = table.column("grad_node");
  const scopeOf = table.column("scope");
  const tensorOf = table.column("tensor");
  numberOf("", -1);
  // Inside a backward call the op says whose gradient it is; the scope is the call.
  const opOf = table.column("op");
  const groupOf = new Int32Array(table.length);
  for (let row = 0; row < groupOf.length; row++) {
    const [op, scope, gradNode] = [opOf[row]!, scopeOf[row]!, gradNodeOf[row]!];
    const parameter = gradNode >= 0 ? parameterOf[gradNode]! : -1;
    const tensor = parameter >= 0 ? parameter : tensorOf[row]!;
    groupOf[row] =
      (op >= 0 && ofGroup(groupOfOp[op]!)) ||
      (scope >= 0 && ofScope(scope)) ||
      (tensor >= 0 ? ofTensor(tensor) : 0);
  }
  return {
    groupOf,
    count: paths.length,
    label: (number) => paths[number] || "outside of layers",
    note: (number) =>
      groups[number]! >= 0 ? trace.textAt("groups", "class", groups[number]!) : "",
    selection: (number) =>
      groups[number]! >= 0 ? { kind: "group", group: groups[number]! } : { kind: "none" },
  };
}

function layerOfScope(trace: Trace, scope: number): string {
  for (let at = scope; at >= 0; at = trace.at("scopes", "parent", at)) {
    const layer = trace.at("scopes", "layer", at);
    if (layer >= 0) {
      return trace.textAt("layers", "path", layer);
    }
  }
  return "";
}

function layerGroup(trace: Trace, group: number): number {
  let at = group;
  while (at >= 0 && trace.groupKind(at) !== "layer") {
    at = trace.at("groups", "parent", at);
  }
  return at;
}

/** Blocks by layer. */

import { layersOfScopes, layersOfTensors } from "../../model/graph/layer_names.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import type { Groups } from "./groups.ts";

/**
 * Groups blocks by the name of their layer. All calls of a layer are one group. A parameter that is
 * older than the trace belongs to its layer.
 */
export function byLayer(trace: Trace): Groups {
  const ofScope = layersOfScopes(trace);
  const ofTensor = layersOfTensors(trace);
  const table = trace.table("allocations");
  const scopeOfOp = trace.table("ops").column("scope");
  const parameterOf = trace.table("grad_nodes").column("parameter");
  const [gradNodeOf, scopeOf, tensorOf] = trace.columns(
    "allocations",
    "grad_node",
    "scope",
    "tensor",
  );
  // In backward, the scope is only the call. So the layer of a gradient comes from the op.
  const opOf = table.column("op");
  const groupOf = new Int32Array(table.length);
  for (let row = 0; row < groupOf.length; row++) {
    const parameter = parameterOf[gradNodeOf[row]!] ?? -1;
    const tensor = parameter >= 0 ? parameter : tensorOf[row]!;
    const ofOp = ofScope[scopeOfOp[opOf[row]!] ?? -1];
    // A group is identified by the position of the layer's name in `strings`.
    groupOf[row] = ofOp || ofScope[scopeOf[row]!] || ofTensor[tensor] || 0;
  }
  const firstGroups = firstGroupsOf(trace, ofScope);
  const groupNamed = (name: number): number => firstGroups.get(name) ?? -1;
  return {
    groupOf,
    count: trace.strings.length,
    label: (name) => trace.text(name) || t("memory.outside_layers"),
    note: (name) => {
      const group = groupNamed(name);
      return group >= 0 ? trace.textAt("groups", "class", group) : "";
    },
    selection: (name) => {
      const group = groupNamed(name);
      return group >= 0 ? { kind: "group", group } : { kind: "none" };
    },
  };
}

/**
 * The first call of each layer in the graph, keyed by the position of the layer's name in
 * `strings`.
 */
function firstGroupsOf(trace: Trace, ofScope: Int32Array): Map<number, number> {
  const groups = new Map<number, number>();
  for (let group = trace.groupCount - 1; group >= 0; group--) {
    const scope = trace.groupKind(group) === "layer" ? trace.at("groups", "scope", group) : -1;
    if (ofScope[scope]) {
      groups.set(ofScope[scope]!, group);
    }
  }
  return groups;
}

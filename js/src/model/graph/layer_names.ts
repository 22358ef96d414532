/** The names of layers, as in `paddle_lab/analysis/memory/layer_names.py`. */

import { SCOPE_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

/** For each scope: the name of its layer, as a position in `strings`; 0 outside of layers. */
export function layersOfScopes(trace: Trace): Int32Array {
  const scopes = trace.table("scopes");
  const [kind, parent, layer] = trace.columns("scopes", "kind", "parent", "layer");
  const name = trace.table("layer_names").column("name");
  const found = new Int32Array(scopes.length);
  // In the table, a scope comes after its parent.
  for (let scope = 0; scope < found.length; scope++) {
    const isLayer = kind[scope] === SCOPE_KINDS.indexOf("layer");
    found[scope] = (isLayer && name[layer[scope]!]) || found[parent[scope]!] || 0;
  }
  return found;
}

/**
 * For each tensor that is a parameter: the name of its layer, as a position in `strings`; otherwise
 * 0.
 */
export function layersOfTensors(trace: Trace): Int32Array {
  const { length, column } = trace.table("tensor_layers");
  const [tensor, name] = [column("tensor"), column("name")];
  const found = new Int32Array(trace.table("tensors").length);
  for (let row = 0; row < length; row++) {
    found[tensor[row]!] = name[row]!;
  }
  return found;
}

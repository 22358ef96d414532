/** Layers by name, as `paddle_lab/analysis/memory/layer_names.py` calls them. */

import { SCOPE_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

/** String code of the name by scope: the layer around it, 0 outside of layers. */
export function layersOfScopes(trace: Trace): Int32Array {
  const scopes = trace.table("scopes");
  const [kind, parent, layer] = [
    scopes.column("kind"),
    scopes.column("parent"),
    scopes.column("layer"),
  ];
  const name = trace.table("layer_names").column("name");
  const found = new Int32Array(scopes.length);
  // Scopes stand after those around them.
  for (let scope = 0; scope < found.length; scope++) {
    const isLayer = kind[scope] === SCOPE_KINDS.indexOf("layer");
    found[scope] = (isLayer && name[layer[scope]!]) || found[parent[scope]!] || 0;
  }
  return found;
}

/** String code of the name by tensor: the layer that a parameter belongs to, 0 where it is not known. */
export function layersOfTensors(trace: Trace): Int32Array {
  const { length, column } = trace.table("tensor_layers");
  const [tensor, name] = [column("tensor"), column("name")];
  const found = new Int32Array(trace.table("tensors").length);
  for (let row = 0; row < length; row++) {
    found[tensor[row]!] = name[row]!;
  }
  return found;
}

/** Layers by name, so that those of two models are told apart; as paddle_lab/analysis/memory/layer_names.py. */

import { SCOPE_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

/**
 * A path is relative to its model: "0" is the first layer of any `Sequential`. Where it begins with a
 * number, or two models have it, the model's own name comes first: "critic.0".
 */
export class LayerNames {
  /** Name by row of `layers`. */
  readonly names: readonly string[];
  /** Row of `layers` by scope, -1 outside layers. */
  readonly layerOfScope: Int32Array;
  readonly #paths: readonly string[];
  readonly #rootsWith = new Map<string, Set<number>>();
  readonly #rootOfTensor: Int32Array;

  constructor(readonly trace: Trace) {
    const roots = firsts(trace.table("layers").column("parent"));
    this.#paths = Array.from(roots, (_, layer) => trace.textAt("layers", "path", layer));
    this.#paths.forEach((path, layer) => {
      const sharing = this.#rootsWith.get(path) ?? new Set();
      this.#rootsWith.set(path, sharing.add(roots[layer]!));
    });
    this.names = this.#paths.map((path, layer) =>
      roots[layer] === layer ? path : this.#name(path, roots[layer]!),
    );
    this.layerOfScope = layersOfScopes(trace);
    this.#rootOfTensor = this.#rootsOfTensors(roots);
  }

  /** The layer that a parameter belongs to, "" where it is not known. */
  ownerOf(tensor: number): string {
    const path = this.trace.textAt("tensors", "path", tensor);
    const owner = path.slice(0, Math.max(0, path.lastIndexOf(".")));
    if (!path) {
      return "";
    }
    // Of a parameter whose uses a limit has left out, the layer may still be one model's alone.
    const [model = -1, another] = this.#rootsWith.get(owner) ?? [];
    const root = this.#rootOfTensor[tensor]!;
    return this.#name(owner, root < 0 && another === undefined ? model : root);
  }

  #name(path: string, root: number): string {
    const model = root >= 0 ? this.#paths[root]! : "";
    const isAmbiguous = /^\d/.test(path) || (this.#rootsWith.get(path)?.size ?? 0) > 1;
    return path && model && isAmbiguous ? `${model}.${path}` : path || model;
  }

  /** The model in whose layers each tensor was used, -1 for none. */
  #rootsOfTensors(roots: Int32Array): Int32Array {
    const { trace } = this;
    // A parameter that an optimizer has changed is another tensor, of the same model.
    const first = firsts(trace.table("tensors").column("previous"));
    const root = new Int32Array(first.length).fill(-1);
    const uses = trace.table("uses");
    const [opOf, tensorOf] = [uses.column("op"), uses.column("tensor")];
    const scopeOf = trace.table("ops").column("scope");
    for (let use = 0; use < opOf.length; use++) {
      const scope = scopeOf[opOf[use]!] ?? -1;
      const layer = scope >= 0 ? this.layerOfScope[scope]! : -1;
      const tensor = first[tensorOf[use]!] ?? -1;
      if (layer >= 0 && tensor >= 0 && root[tensor]! < 0) {
        root[tensor] = roots[layer]!;
      }
    }
    return first.map((tensor) => root[tensor] ?? -1);
  }
}

/** The first of each row's ancestors, of a row without any itself; -1 in a circle. */
function firsts(before: ArrayLike<number>): Int32Array {
  return nearest(before, (row) => (before[row]! < 0 ? row : -1));
}

function layersOfScopes(trace: Trace): Int32Array {
  const layer = SCOPE_KINDS.indexOf("layer");
  const [kindOf, layerOf] = [
    trace.table("scopes").column("kind"),
    trace.table("scopes").column("layer"),
  ];
  return nearest(trace.table("scopes").column("parent"), (row) =>
    kindOf[row] === layer ? layerOf[row]! : -1,
  );
}

/** What the nearest row says, from each row upwards, that says something. */
function nearest(above: ArrayLike<number>, said: (row: number) => number): Int32Array {
  const unknown = -2;
  const found = new Int32Array(above.length).fill(unknown);
  for (let row = 0; row < found.length; row++) {
    const way: number[] = [];
    let at = row;
    while (at >= 0 && found[at] === unknown) {
      found[at] = said(at);
      way.push(at);
      at = found[at]! >= 0 ? -1 : above[at]!;
    }
    const last = way.at(-1);
    const answer = last === undefined ? -1 : found[last]! >= 0 ? found[last]! : (found[at] ?? -1);
    for (const passed of way) {
      found[passed] = answer;
    }
  }
  return found;
}

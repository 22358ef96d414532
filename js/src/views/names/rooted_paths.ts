/**
 * Paths as people write them: `net.blocks.95.fc.weight`. In the record, paths of layers and
 * parameters start inside their model, so the model's name or class is searched separately.
 */

import { GROUP_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { eachUse } from "../../trace/uses.ts";

const LAYER = GROUP_KINDS.indexOf("layer");

/** A text split at one of its dots into a model's name and a path inside the model. */
interface Parting {
  /** The text before the dot. The name or class of a model ends with this text. */
  readonly model: string;
  /** The text after the dot. A path begins with this text. */
  readonly path: string;
}

export class RootedPaths {
  /** The model that contains each group, or the group itself if it is a model; -1 for none. */
  readonly #modelOfGroup: Int32Array;
  /** The model that first reads each tensor, -1 for none; computed when first needed. */
  #modelOfTensor: Int32Array | undefined;

  constructor(readonly trace: Trace) {
    const groups = trace.table("groups");
    const [kind, parent] = trace.columns("groups", "kind", "parent");
    const model = new Int32Array(groups.length).fill(-1);
    // Parents come before children.
    for (let group = 0; group < model.length; group++) {
      const around = parent[group]! >= 0 ? model[parent[group]!]! : -1;
      model[group] = around < 0 && kind[group] === LAYER ? group : around;
    }
    this.#modelOfGroup = model;
  }

  /** 1 for each group that the text names by its model and the beginning of its path. */
  groups(text: string, strings: readonly string[]): Uint8Array {
    const groups = this.trace.table("groups");
    return this.#fits(text, strings, groups.column("path"), this.#modelOfGroup, groups.length);
  }

  /** 1 for each tensor that the text names by its model and the beginning of its path. */
  tensors(text: string, strings: readonly string[]): Uint8Array {
    const tensors = this.trace.table("tensors");
    if (!text.includes(".")) return new Uint8Array(tensors.length);
    this.#modelOfTensor ??= this.#modelsOfTensors();
    return this.#fits(text, strings, tensors.column("path"), this.#modelOfTensor, tensors.length);
  }

  #fits(
    text: string,
    strings: readonly string[],
    path: ArrayLike<number>,
    model: Int32Array,
    count: number,
  ): Uint8Array {
    const fit = new Uint8Array(count);
    const [name, className] = this.trace.columns("groups", "path", "class");
    for (const parting of partings(text)) {
      const isModel = strings.map((one) => one.endsWith(parting.model));
      const isPath = strings.map((one) => one !== "" && one.startsWith(parting.path));
      for (let row = 0; row < count; row++) {
        const at = model[row]!;
        // The path of a model itself is its name.
        if (at < 0 || path[row] === name[at] || !isPath[path[row]!]) continue;
        if (isModel[name[at]!] || isModel[className[at]!]) fit[row] = 1;
      }
    }
    return fit;
  }

  #modelsOfTensors(): Int32Array {
    const models = new Int32Array(this.trace.table("tensors").length).fill(-1);
    const groupOfOp = this.trace.table("op_groups").column("group");
    eachUse(this.trace, (op, tensor) => {
      const group = groupOfOp[op]!;
      if (group >= 0 && models[tensor]! < 0) {
        models[tensor] = this.#modelOfGroup[group]!;
      }
    });
    return models;
  }
}

function partings(text: string): Parting[] {
  const found: Parting[] = [];
  for (let at = text.indexOf(".", 1); at > 0; at = text.indexOf(".", at + 1)) {
    found.push({ model: text.slice(0, at), path: text.slice(at + 1) });
  }
  return found;
}

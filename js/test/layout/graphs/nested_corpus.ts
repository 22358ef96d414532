/** Nets with layers: visible trees with some groups open. */

import type { NestedGraph } from "../../../src/layout/contract.ts";
import { Builder } from "./corpus.ts";

/** A Builder whose ops belong to a layer path such as "layers.3/self_attn". */
export class ScopedBuilder extends Builder {
  readonly scopes: string[] = [];
  private scope = "";

  override op(name: string, ...inputs: number[]): number {
    this.scopes.push(this.scope);
    return super.op(name, ...inputs);
  }

  within<T>(name: string, make: () => T): T {
    const outer = this.scope;
    this.scope = outer === "" ? name : `${outer}/${name}`;
    const made = make();
    this.scope = outer;
    return made;
  }

  /** The visible tree when `isOpen` says which groups are open. Labels go with the items. */
  nested(isOpen: (scope: string) => boolean): { graph: NestedGraph; labels: string[] } {
    const parent: number[] = [];
    const open: number[] = [];
    const labels: string[] = [];
    const items = new Map<string, number>();
    const add = (label: string, key: string, within: number, isGroup: boolean): number => {
      parent.push(within);
      open.push(isGroup ? 1 : 0);
      items.set(key, labels.length);
      return labels.push(label) - 1;
    };
    /** The item that shows `scope`, or the closed group round it. */
    const shown = (scope: string): number => {
      let at = -1;
      let path = "";
      for (const name of scope === "" ? [] : scope.split("/")) {
        path = path === "" ? name : `${path}/${name}`;
        const open_ = isOpen(path);
        at = items.get(path) ?? add(name, path, at, open_);
        if (!open_) return at;
      }
      return at;
    };
    const itemOf = this.names.map((name, v) => {
      const group = shown(this.scopes[v]!);
      return group >= 0 && open[group] === 0 ? group : add(name, `#${v}`, group, false);
    });
    const pairs = new Map<string, [number, number]>();
    this.source.forEach((source, e) => {
      const pair: [number, number] = [itemOf[source]!, itemOf[this.target[e]!]!];
      if (pair[0] !== pair[1]) pairs.set(pair.join(), pair);
    });
    const edges = [...pairs.values()];
    const graph: NestedGraph = {
      itemCount: labels.length,
      parent: Int32Array.from(parent),
      open: Uint8Array.from(open),
      width: Float64Array.from(labels, (label) => 40 + 7 * label.length),
      height: new Float64Array(labels.length).fill(28),
      edgeSource: Int32Array.from(edges, ([source]) => source),
      edgeTarget: Int32Array.from(edges, ([, target]) => target),
    };
    return { graph, labels };
  }
}

/** A decoder of equal blocks with attention, feed-forward and one mask for all. */
export function decoder(blocks: number): ScopedBuilder {
  const b = new ScopedBuilder();
  const mask = b.chain(b.op("attn_mask"), "unsqueeze", "scale");
  let x = b.op("embedding", b.op("input_ids"));
  for (let i = 0; i < blocks; i++) {
    b.within(`layers.${i}`, () => {
      const h = b.op("layer_norm", x);
      const attended = b.within("self_attn", () => {
        const heads = ["q_proj", "k_proj", "v_proj"].map((name) =>
          b.chain(
            b.within(name, () => b.chain(h, "matmul", "add")),
            "reshape",
            "transpose",
          ),
        ) as [number, number, number];
        const scores = b.op("matmul", heads[0], b.op("transpose", heads[1]));
        const mixed = b.op("matmul", b.op("softmax", b.op("add", scores, mask)), heads[2]);
        const joined = b.chain(mixed, "transpose", "reshape");
        return b.within("out_proj", () => b.chain(joined, "matmul", "add"));
      });
      x = b.op("add", attended, x);
      const normed = b.op("layer_norm", x);
      const fed = b.within("mlp", () => b.chain(normed, "linear", "gelu", "linear"));
      x = b.op("add", fed, x);
    });
  }
  b.within("head", () => b.chain(x, "layer_norm", "linear"));
  return b;
}

/** Stages of residual blocks. */
export function resnet(stages: number, blocks: number): ScopedBuilder {
  const b = new ScopedBuilder();
  let x = b.within("stem", () => b.chain(b.op("input"), "conv2d", "batch_norm", "relu"));
  for (let s = 0; s < stages; s++) {
    for (let i = 0; i < blocks; i++) {
      b.within(`layer${s + 1}`, () =>
        b.within(String(i), () => {
          const main = b.chain(x, "conv2d", "batch_norm", "relu", "conv2d", "batch_norm");
          const skip =
            i === 0 && s > 0 ? b.within("downsample", () => b.chain(x, "conv2d", "batch_norm")) : x;
          x = b.op("relu", b.op("add", main, skip));
        }),
      );
    }
  }
  b.chain(x, "mean", "flatten", "linear");
  return b;
}

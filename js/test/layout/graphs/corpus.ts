/** Graphs shaped like the nets people trace, from a seed. */

import type { LayoutGraph } from "./flat_graph.ts";

/** A small repeatable random source (mulberry32). @returns numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Collects nodes and edges by op name. */
export class Builder {
  readonly names: string[] = [];
  readonly source: number[] = [];
  readonly target: number[] = [];

  /** Add an op that reads the outputs of `inputs`. */
  op(name: string, ...inputs: number[]): number {
    const id = this.names.push(name) - 1;
    for (const input of inputs) this.edge(input, id);
    return id;
  }

  edge(source: number, target: number): void {
    this.source.push(source);
    this.target.push(target);
  }

  chain(from: number, ...names: string[]): number {
    let last = from;
    for (const name of names) last = this.op(name, last);
    return last;
  }

  graph(): LayoutGraph {
    const nodeCount = this.names.length;
    const width = Float64Array.from(this.names, (name) => 40 + 7 * name.length);
    return {
      nodeCount,
      width,
      height: new Float64Array(nodeCount).fill(28),
      edgeSource: Int32Array.from(this.source),
      edgeTarget: Int32Array.from(this.target),
      order: Int32Array.from(width, (_, i) => i),
    };
  }
}

export function flatChain(nodeCount: number): Builder {
  const b = new Builder();
  let last = b.op("input");
  while (b.names.length < nodeCount) last = b.op("relu", last);
  return b;
}

/** Blocks of conv, norm, relu, conv, norm with a skip round each; the first of every four has a projection. */
export function residualChain(nodeCount: number): Builder {
  const b = new Builder();
  let x = b.chain(b.op("input"), "conv2d", "batch_norm", "relu");
  for (let block = 0; b.names.length < nodeCount; block++) {
    const main = b.chain(x, "conv2d", "batch_norm", "relu", "conv2d", "batch_norm");
    const skip = block % 4 === 0 ? b.chain(x, "conv2d", "batch_norm") : x;
    x = b.op("relu", b.op("add", main, skip));
  }
  return b;
}

/** A residual chain without projections: a main path and one skip a block, nothing else. */
export function pureResidual(nodeCount: number): Builder {
  const b = new Builder();
  let x = b.op("input");
  while (b.names.length < nodeCount)
    x = b.op("add", b.chain(x, "norm", "linear", "gelu", "linear"), x);
  return b;
}

/** Transformer blocks; with a mask that feeds every one of them. */
export function attention(nodeCount: number, withMask = true): Builder {
  const b = new Builder();
  let x = b.op("embedding", b.op("input_ids"));
  const mask = withMask ? b.chain(b.op("attn_mask"), "unsqueeze", "scale") : -1;
  while (b.names.length < nodeCount) {
    const h = b.op("layer_norm", x);
    const [q, k, v] = ["q", "k", "v"].map(() =>
      b.chain(h, "matmul", "add", "reshape", "transpose"),
    ) as [number, number, number];
    let scores = b.op("scale", b.op("matmul", q, b.op("transpose", k)));
    if (withMask) scores = b.op("add", scores, mask);
    const mixed = b.op("matmul", b.chain(scores, "softmax", "dropout"), v);
    x = b.op("add", b.chain(mixed, "transpose", "reshape", "matmul", "add"), x);
    const ffn = b.chain(b.op("layer_norm", x), "matmul", "add", "gelu", "matmul", "add");
    x = b.op("add", ffn, x);
  }
  return b;
}

export function inception(nodeCount: number): Builder {
  const b = new Builder();
  let x = b.chain(b.op("input"), "conv2d", "relu", "pool2d");
  const unit = (from: number): number => b.chain(from, "conv2d", "batch_norm", "relu");
  while (b.names.length < nodeCount) {
    x = b.op("concat", unit(x), unit(unit(x)), unit(unit(unit(x))), unit(b.op("pool2d", x)));
  }
  return b;
}

export function unet(depth: number, perLevel = 2): Builder {
  const b = new Builder();
  let x = b.op("input");
  const skips: number[] = [];
  const level = (): void => {
    for (let i = 0; i < perLevel; i++) x = b.chain(x, "conv2d", "batch_norm", "relu");
  };
  for (let d = 0; d < depth; d++) {
    level();
    skips.push(x);
    x = b.op("pool2d", x);
  }
  level();
  for (let d = depth - 1; d >= 0; d--) {
    x = b.op("concat", skips[d]!, b.op("conv2d_transpose", x));
    level();
  }
  return b;
}

/** Every layer of a block reads all layers before it. */
export function denseNet(blocks: number, layers: number): Builder {
  const b = new Builder();
  let x = b.op("conv2d", b.op("input"));
  for (let block = 0; block < blocks; block++) {
    const features = [x];
    for (let i = 0; i < layers; i++) {
      const all = features.length > 1 ? b.op("concat", ...features) : features[0]!;
      features.push(b.chain(all, "batch_norm", "relu", "conv2d"));
    }
    x = b.chain(b.op("concat", ...features), "conv2d", "pool2d");
  }
  return b;
}

/** Layers by steps; each cell reads the cell before in time and the layer below. */
export function lstm(steps: number, layers: number): Builder {
  const b = new Builder();
  let below = Array.from({ length: steps }, () => b.op("slice"));
  for (let layer = 0; layer < layers; layer++) {
    let h = b.op("zeros");
    let c = b.op("zeros");
    below = below.map((x) => {
      const gates = b.op("split", b.op("add", b.op("linear", x), b.op("linear", h)));
      const [i, f, o] = [0, 1, 2].map(() => b.op("sigmoid", gates)) as [number, number, number];
      const g = b.op("tanh", gates);
      c = b.op("add", b.op("multiply", f, c), b.op("multiply", i, g));
      h = b.op("multiply", o, b.op("tanh", c));
      return h;
    });
  }
  b.op("stack", ...below);
  return b;
}

/** Edges from recent nodes mostly, as in a program; `density` edges a node. */
export function randomDag(nodeCount: number, density: number, seed: number): Builder {
  const random = seeded(seed);
  const b = new Builder();
  b.op("input");
  while (b.names.length < nodeCount) {
    const id = b.op(["add", "matmul", "relu", "layer_norm"][Math.floor(random() * 4)]!);
    const inputs = random() < density - 1 ? 2 : 1;
    for (let i = 0; i < inputs; i++) {
      const back = 1 + Math.floor(random() ** 3 * Math.min(id, 30));
      b.edge(id - back, id);
    }
  }
  return b;
}

/** One node read by all others. */
export function star(consumers: number): Builder {
  const b = new Builder();
  const hub = b.op("hub");
  for (let i = 0; i < consumers; i++) b.op("use", hub);
  return b;
}

/** One node read by many, whose results are gathered. */
export function gathered(consumers: number, steps = 1): Builder {
  const b = new Builder();
  const hub = b.op("hub");
  const names = Array.from({ length: steps }, () => "use");
  const read = Array.from({ length: consumers }, () => b.chain(hub, ...names));
  b.op("add_n", ...read);
  return b;
}

/** A chain in which every node reads one mask. */
export function hubChain(consumers: number): Builder {
  const b = new Builder();
  const mask = b.op("mask");
  let x = b.op("input");
  for (let i = 0; i < consumers; i++) x = b.op("add", x, mask);
  return b;
}

/** A program-like mix at any size: residual blocks with parameters as nodes. */
export function network(nodeCount: number): Builder {
  const b = new Builder();
  let x = b.op("input");
  while (b.names.length < nodeCount) {
    const h = b.op("linear", b.op("layer_norm", x, b.op("w")), b.op("w"), b.op("b"));
    x = b.op("add", b.op("linear", b.op("gelu", h), b.op("w")), x);
  }
  return b;
}

/** The graphs that are held against dot, by name. */
export const corpus: Record<string, () => Builder> = {
  "chain 200": () => flatChain(200),
  "residual 200": () => residualChain(200),
  "residual 1000": () => residualChain(1000),
  "attention 100": () => attention(100, false),
  "attention mask 200": () => attention(200),
  "attention mask 1000": () => attention(1000),
  "inception 200": () => inception(200),
  "inception 1000": () => inception(1000),
  "unet 4": () => unet(4),
  "unet 6": () => unet(6, 3),
  "densenet 1x8": () => denseNet(1, 8),
  "densenet 3x12": () => denseNet(3, 12),
  "lstm 6x1": () => lstm(6, 1),
  "lstm 10x2": () => lstm(10, 2),
  "lstm 20x4": () => lstm(20, 4),
  "random 60": () => randomDag(60, 1.3, 1),
  "random 200": () => randomDag(200, 1.3, 2),
  "random 200 dense": () => randomDag(200, 1.6, 3),
  "random 1000": () => randomDag(1000, 1.2, 4),
  "network 200": () => network(200),
  "network 1000": () => network(1000),
};

/** Made-up graphs of up to 1,000 boxes for the count of crossings, beside those of real models. */

import {
  attention,
  Builder,
  corpus,
  denseNet,
  hubChain,
  inception,
  lstm,
  network,
  randomDag,
  residualChain,
  seeded,
  star,
  unet,
} from "./corpus.ts";
import type { LayoutGraph } from "./flat_graph.ts";

/** Ops in a row or side by side, each part again a row or side by side: what programs without jumps make. */
export function seriesParallel(nodeCount: number, seed: number): Builder {
  const random = seeded(seed);
  const b = new Builder();
  let x = b.op("input");
  const grown = (from: number, size: number): number => {
    if (size <= 2) return b.op("linear", from);
    if (random() < 0.5) {
      const first = 1 + Math.floor(random() * (size - 1));
      return grown(grown(from, first), size - first);
    }
    const count = 2 + Math.floor(random() * 3);
    const ends = Array.from({ length: count }, () => grown(from, Math.floor((size - 1) / count)));
    return b.op("concat", ...ends);
  };
  while (b.names.length < nodeCount) {
    x = grown(x, Math.min(120, nodeCount - b.names.length));
  }
  return b;
}

/** A net of layers in which each unit reads a few of the layer before: the worst case for any order. */
export function layeredRandom(
  layers: number,
  width: number,
  inputs: number,
  seed: number,
): Builder {
  const random = seeded(seed);
  const b = new Builder();
  let before = Array.from({ length: width }, () => b.op("input"));
  for (let layer = 1; layer < layers; layer++) {
    before = Array.from({ length: width }, () => {
      const read = new Set<number>();
      while (read.size < inputs) read.add(before[Math.floor(random() * width)]!);
      return b.op("add", ...read);
    });
  }
  return b;
}

const made: Record<string, () => Builder> = {
  ...corpus,
  "residual 1000": () => residualChain(990),
  "attention mask 1000": () => attention(960),
  "attention 1000": () => attention(960, false),
  "inception 1000": () => inception(980),
  "unet 6x6": () => unet(6, 6),
  "densenet 2x10": () => denseNet(2, 10),
  "lstm 20x4": () => lstm(18, 4),
  "lstm 40x2": () => lstm(36, 2),
  "random 1000": () => randomDag(1000, 1.2, 4),
  "random 500": () => randomDag(500, 1.3, 5),
  "random 500 dense": () => randomDag(500, 1.6, 6),
  "network 1000": () => network(980),
  "series-parallel 100": () => seriesParallel(100, 1),
  "series-parallel 400": () => seriesParallel(400, 2),
  "series-parallel 950": () => seriesParallel(940, 3),
  "layers 6x8": () => layeredRandom(6, 8, 2, 7),
  "layers 12x12": () => layeredRandom(12, 12, 2, 8),
  "layers 20x20": () => layeredRandom(20, 20, 2, 9),
  "star 900": () => star(900),
  "hub chain 490": () => hubChain(490),
};

export const synthetic: Record<string, () => LayoutGraph> = Object.fromEntries(
  Object.entries(made).map(([name, make]) => [name, () => make().graph()]),
);

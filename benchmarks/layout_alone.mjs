// Runs one layout of one graph by one library, and prints its time in ms.
//   node benchmarks/layout_alone.mjs "Paddle Lab"|ELK|dagre GRAPH.json
// BENCH_NODE is the folder whose node_modules have elkjs and @dagrejs/dagre.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fromSource } from "./from_source.mjs";

const [tool, file] = process.argv.slice(2);
const { labels, edges } = JSON.parse(readFileSync(file, "utf8"));
const library = createRequire(resolve(process.env.BENCH_NODE ?? ".", "package.json"));
const width = (label) => 40 + 7 * label.length;
const HEIGHT_PX = 28;

const layouts = {
  async "Paddle Lab"() {
    const { layoutGraph } = await fromSource(`export * from "./test/layout/graphs/flat_graph.ts";`);
    const graph = {
      nodeCount: labels.length,
      width: Float64Array.from(labels, width),
      height: new Float64Array(labels.length).fill(HEIGHT_PX),
      edgeSource: Int32Array.from(edges, ([source]) => source),
      edgeTarget: Int32Array.from(edges, ([, target]) => target),
    };
    return () => layoutGraph(graph);
  },
  async ELK() {
    const Elk = library("elkjs");
    const elk = new Elk();
    const graph = {
      id: "root",
      layoutOptions: { "elk.algorithm": "layered", "elk.direction": "DOWN" },
      children: labels.map((label, n) => ({ id: `n${n}`, width: width(label), height: HEIGHT_PX })),
      edges: edges.map(([from, to], e) => ({ id: `e${e}`, sources: [`n${from}`], targets: [`n${to}`] })),
    };
    return () => elk.layout(graph);
  },
  async dagre() {
    const dagre = library("@dagrejs/dagre");
    const graph = new dagre.graphlib.Graph();
    graph.setGraph({ rankdir: "TB" });
    graph.setDefaultEdgeLabel(() => ({}));
    labels.forEach((label, n) => graph.setNode(`n${n}`, { width: width(label), height: HEIGHT_PX }));
    for (const [from, to] of edges) graph.setEdge(`n${from}`, `n${to}`);
    return () => dagre.layout(graph);
  },
};

const run = await layouts[tool]();
const start = performance.now();
await run();
console.log(performance.now() - start);

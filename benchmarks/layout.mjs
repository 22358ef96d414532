// Times the graph layout and compares its pictures with Graphviz's dot. Prints Markdown.
//   node benchmarks/layout.mjs [--quick] [--json FILE]   (needs `npm ci` in js/; dot is optional)
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { fromSource } from "./from_source.mjs";


const layout = await fromSource(`
      export { layoutNested } from "./src/layout/index.ts";
      export { layoutGraph } from "./test/layout/graphs/flat_graph.ts";
      export * from "./test/layout/graphs/corpus.ts";
      export { decoder } from "./test/layout/graphs/nested_corpus.ts";
      export { hasDot, layoutWithDot } from "./test/layout/graphs/dot.ts";
      export { countLineCrossings, drawnLines } from "./test/layout/yardstick.ts";`);

/** Median of several warm runs, in ms. */
function warm_ms(run) {
  run();
  run();
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  }).sort((a, b) => a - b);
  return times[2].toFixed(1);
}

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, json: { type: "string" } },
});
const rows = [];
/** Add a figure to the page of figures. */
function figure(subject, what, value_ms, bar) {
  rows.push({ subject, what, tool: "Paddle Lab", value: Number(value_ms), unit: "ms", ...(bar && { bar }) });
  if (values.json) writeFileSync(values.json, JSON.stringify(rows));
}

const { attention, decoder, flatChain, gathered, hubChain, network, randomDag, residualChain, star } = layout;

console.log("## Flat graphs, warm ms\n");
console.log("| nodes | chain | residual | transformer, one mask | network with parameters | random |");
console.log("|---|---|---|---|---|---|");
for (const count of values.quick ? [200, 1000, 5000] : [200, 1000, 5000, 20_000, 100_000]) {
  const graphs = [
    flatChain(count),
    residualChain(count),
    attention(count),
    network(count),
    randomDag(count, 1.1, 1),
  ].map((b) => b.graph());
  const times = graphs.map((g) => warm_ms(() => layout.layoutGraph(g)));
  figure(`chain-${count}`, "layout alone", times[0]);
  console.log(`| ${count} | ${times.join(" | ")} |`);
}

console.log("\n## Hubs, warm ms\n");
console.log("| graph | ms |\n|---|---|");
for (const [name, builder] of [
  ["10,000 consumers of one node, one rank", star(10_000)],
  ["10,000 consumers of one node, a chain", hubChain(10_000)],
  ["10,000 consumers of one node, gathered by one", gathered(10_000)],
  ["10,000 branches of two between two nodes", gathered(10_000, 2)],
]) {
  const graph = builder.graph();
  const taken = warm_ms(() => layout.layoutGraph(graph));
  figure(name, "layout alone", taken, 1000);
  console.log(`| ${name} | ${taken} |`);
}

console.log("\n## Open groups, warm ms\n");
console.log("| decoder of | in view | without cache | with cache |\n|---|---|---|---|");
for (const [blocks, isOpen] of [
  [96, () => false],
  [96, (scope) => !scope.includes("/")],
  [96, () => true],
]) {
  const { graph } = decoder(blocks).nested(isOpen);
  const cache = new Map();
  const plain = warm_ms(() => layout.layoutNested(graph));
  const cached = warm_ms(() => layout.layoutNested(graph, { cache }));
  console.log(`| ${blocks} blocks | ${graph.itemCount} | ${plain} | ${cached} |`);
}

console.log("\n## Opening one block, warm ms: all else comes from the cache\n");
console.log("| blocks | in view before | after | with an empty cache | with what was laid out before | laid out anew |");
console.log("|---|---|---|---|---|---|");
for (const blocks of [96, 300]) {
  const isOpen = (opened) => (scope) => /^layers\.(?!7$)\d+$/.test(scope) || opened.includes(scope);
  const before = decoder(blocks).nested(isOpen([])).graph;
  const after = decoder(blocks).nested(isOpen(["layers.7"])).graph;
  const anew = warm_ms(() => layout.layoutNested(after, { cache: new Map() }));
  const cache = new Map();
  layout.layoutNested(before, { cache });
  const known = new Map(cache);
  layout.layoutNested(after, { cache });
  const made = cache.size - known.size;
  const cached = warm_ms(() => layout.layoutNested(after, { cache: new Map(known) }));
  const groups = after.open.reduce((sum, open) => sum + open, 0);
  const row = [blocks, before.itemCount, after.itemCount, anew, cached, `${made} of ${groups} groups`];
  figure(`${blocks} blocks`, "layout when one is opened", cached, 50);
  console.log(`| ${row.join(" | ")} |`);
}

if (!values.quick && layout.hasDot()) {
  console.log("\n## Beside dot\n");
  console.log("| graph | nodes | crossings | dot's | width px | dot's |\n|---|---|---|---|---|---|");
  for (const [name, make] of Object.entries(layout.corpus)) {
    const graph = make().graph();
    const dot = layout.layoutWithDot(graph);
    const ours = layout.layoutGraph(graph);
    const crossings = layout.countLineCrossings(layout.drawnLines(ours));
    const theirs = layout.countLineCrossings(dot.lines);
    const columns = [name, graph.nodeCount, crossings, theirs, ours.width, dot.width];
    console.log(`| ${columns.map((c) => (typeof c === "number" ? Math.round(c) : c)).join(" | ")} |`);
  }
}

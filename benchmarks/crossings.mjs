// Counts edge crossings in our pictures and in those of Graphviz's dot. Prints Markdown.
//   python benchmarks/crossings_corpus.py FOLDER     (traces the models of the tests, once)
//   node benchmarks/crossings.mjs FOLDER [PART OF A NAME] [--json FILE] [--quick]
//   node benchmarks/crossings.mjs FOLDER --store     (dot's results for the tests; format the file then)
//
// `--quick` uses stored results of dot, and only graphs of up to 120 boxes.
//
// The graphs are those that the views lay out for each model (forward, backward and ladder, as first
// shown and with all groups open), and made-up ones. Graphs with more than 1,000 boxes are left out.
// Groups are clusters for dot. Crossings are counted in the same way in both pictures, from the drawn
// curves: a crossing is a point where two edges pass through each other. "Ink" counts a stretch that
// several edges share as one line, because we draw a tensor with several consumers as one line with
// branches. "Pairs" counts each pair of edges. dot's pictures are stored in FOLDER. If dot does not
// finish a graph in time, the graph is named and left out of the sums.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fromSource } from "./from_source.mjs";

const MOST_BOXES = 1000;
const DOT_LIMIT_MS = 90_000;
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "string" },
    quick: { type: "boolean", default: false },
    store: { type: "boolean", default: false },
  },
});
const [folder, part = ""] = positionals;
/** The graphs that the tests compare with dot: nets of many shapes. */
const STORED = [
  "googlenet: forward, opened",
  "inception_v3: backward, opened",
  "llama: forward, opened",
  "lstm_cell: forward, opened",
  "transformer: ladder, opened",
  "shufflenet_v2: forward, first",
  "series-parallel 100",
];
const STORE = new URL("../js/test/layout/graphs/stored_graphs.json", import.meta.url);
if (!folder) throw new Error("say where the corpus is: node benchmarks/crossings.mjs FOLDER");

const layout = await fromSource(`
      export { layoutNested } from "./src/layout/index.ts";
      export { layoutGraph } from "./test/layout/graphs/flat_graph.ts";
      export { synthetic } from "./test/layout/graphs/crossings_corpus.ts";
      export { dotText, dotVersion, readDot, runDot } from "./test/layout/graphs/dot.ts";
      export { graphsOf } from "./test/layout/graphs/record_graphs.ts";
      export { countLineCrossings, drawnLines } from "./test/layout/yardstick.ts";`);

const boxesOf = (graph) =>
  graph.nodeCount ?? graph.itemCount - graph.open.reduce((sum, open) => sum + open, 0);

/** Without parallel edges and self loops, which would count twice or not at all. */
function simple(graph) {
  const pairs = new Map();
  graph.edgeSource.forEach((from, e) => {
    const to = graph.edgeTarget[e];
    if (from !== to) pairs.set(`${from} ${to}`, [from, to]);
  });
  const edges = [...pairs.values()];
  const { edgeWeight: _, ...rest } = graph;
  return {
    ...rest,
    edgeSource: Int32Array.from(edges, ([from]) => from),
    edgeTarget: Int32Array.from(edges, ([, to]) => to),
  };
}

/** The graph without groups: only the boxes. */
function flat(graph) {
  const place = new Int32Array(graph.itemCount).fill(-1);
  const leaves = [...place.keys()].filter((item) => !graph.open[item]);
  leaves.forEach((item, i) => {
    place[item] = i;
  });
  return {
    nodeCount: leaves.length,
    width: Float64Array.from(leaves, (item) => graph.width[item]),
    height: Float64Array.from(leaves, (item) => graph.height[item]),
    order: Int32Array.from(leaves, (item) => graph.order?.[item] ?? item),
    edgeSource: graph.edgeSource.map((item) => place[item]),
    edgeTarget: graph.edgeTarget.map((item) => place[item]),
  };
}

function familyOf(name) {
  if (name.startsWith("star")) return "star";
  return name.includes(": ") ? "models" : "made-up";
}

const counted = (lines) => ({
  ink: layout.countLineCrossings(lines),
  pairs: layout.countLineCrossings(lines, "pairs"),
});

/** dot's picture, stored in the folder; null if dot did not finish. */
function dotCounts(graph) {
  const text = layout.dotText(graph);
  const key = createHash("sha256").update(text).digest("hex").slice(0, 24);
  const kept = join(folder, "dot", `${key}.plain`);
  if (!existsSync(kept)) {
    let plain = "";
    if (options.quick && /^digraph/.test(text) && text.length > 20_000) return null;
    try {
      plain = layout.runDot(text, DOT_LIMIT_MS);
    } catch (error) {
      console.error(String(error));
    }
    writeFileSync(kept, plain);
  }
  const plain = readFileSync(kept, "utf8");
  if (!plain) return null;
  const picture = layout.readDot(plain);
  return { ...counted(picture.lines), width: picture.width };
}

mkdirSync(join(folder, "dot"), { recursive: true });
mkdirSync(join(folder, "graphs"), { recursive: true });
const graphs = new Map();
for (const file of readdirSync(folder).sort()) {
  if (!file.endsWith(".payload")) continue;
  const name = file.replace(".payload", "");
  for (const [view, graph] of await layout.graphsOf(readFileSync(join(folder, file)))) {
    const nested = simple(graph);
    graphs.set(`${name}: ${view}`, nested);
    if (nested.open.some((open) => open)) graphs.set(`${name}: ${view}, no frames`, flat(nested));
  }
}
for (const [name, make] of Object.entries(layout.synthetic)) graphs.set(name, simple(make()));

const plain = (value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
const written = (graph) => Object.fromEntries(Object.entries(graph).map(([k, v]) => [k, plain(v)]));

if (options.store) {
  const command = "node benchmarks/crossings.mjs FOLDER --store";
  const stored = STORED.map((name) => {
    const { ink } = dotCounts(graphs.get(name));
    return { name, dotCrossings: ink, graph: written(graphs.get(name)) };
  });
  writeFileSync(STORE, `${JSON.stringify({ command, dot: layout.dotVersion(), stored })}\n`);
  process.exit();
}

const sums = { graphs: 0, ink: 0, pairs: 0, dotInk: 0, dotPairs: 0, over: 0, overPairs: 0 };
/** Sums by family: real models, and made-up graphs. Stars are separate: dot draws them in one row. */
const families = new Map();
const unfinished = [];
let slowest_ms = 0;
console.log("| graph | boxes | edges | ms | ink | dot's | pairs | dot's | width px | dot's |");
console.log("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
for (const [name, graph] of graphs) {
  const boxes = boxesOf(graph);
  if (boxes > (options.quick ? 120 : MOST_BOXES) || !name.includes(part)) continue;
  const file = `${name.replaceAll(/[ :,]+/g, "_")}.json`;
  writeFileSync(join(folder, "graphs", file), JSON.stringify(written(graph)));
  const run = () =>
    graph.nodeCount === undefined ? layout.layoutNested(graph) : layout.layoutGraph(graph);
  run();
  const start = performance.now();
  const ours = run();
  const taken_ms = performance.now() - start;
  slowest_ms = Math.max(slowest_ms, taken_ms);
  const dot = dotCounts(graph);
  if (dot === null) {
    unfinished.push(name);
    continue;
  }
  const { ink, pairs } = counted(layout.drawnLines(ours));
  const family = families.get(familyOf(name)) ?? { graphs: 0, ink: 0, dotInk: 0 };
  family.graphs++;
  family.ink += ink;
  family.dotInk += dot.ink;
  families.set(familyOf(name), family);
  sums.graphs++;
  sums.ink += ink;
  sums.pairs += pairs;
  sums.dotInk += dot.ink;
  sums.dotPairs += dot.pairs;
  const isOver = ink > 1.1 * dot.ink;
  sums.over += isOver ? 1 : 0;
  sums.overPairs += pairs > 1.1 * dot.pairs ? 1 : 0;
  const width = Math.round(ours.width instanceof Float64Array ? ours.totalWidth : ours.width);
  const columns = [boxes, graph.edgeSource.length, taken_ms.toFixed(1)];
  columns.push(isOver ? `**${ink}**` : ink, dot.ink, pairs, dot.pairs, width, Math.round(dot.width));
  console.log(`| ${name} | ${columns.join(" | ")} |`);
}
for (const [family, { graphs, ink, dotInk }] of families) {
  console.log(`\n${family}: ${graphs} graphs, ink ${ink}, dot's ${dotInk}, ratio ${(ink / dotInk).toFixed(2)}.`);
}
console.log(
  `\n${sums.graphs} graphs: ink ${sums.ink}, dot's ${sums.dotInk}, ratio ${(sums.ink / sums.dotInk).toFixed(2)}; ` +
    `pairs ${sums.pairs}, dot's ${sums.dotPairs}, ratio ${(sums.pairs / sums.dotPairs).toFixed(2)}. ` +
    `More than 1.1 times dot's: ${sums.over} graphs by ink, ${sums.overPairs} by pairs. ` +
    `Our slowest layout took ${slowest_ms.toFixed(0)} ms.`,
);
if (unfinished.length) {
  console.log(`\nNot finished by dot in ${DOT_LIMIT_MS / 1000} s: ${unfinished.join("; ")}.`);
}
if (options.json) {
  const bars = { models: 1.1, "made-up": 1.1 };
  const rows = [...families].map(([family, { graphs, ink, dotInk }]) => ({
    subject: family === "models" ? "models of the tests" : `${family} graphs`,
    what: "edge crossings by dot's",
    tool: "Paddle Lab",
    value: ink / dotInk,
    unit: "x",
    ...(family in bars ? { bar: bars[family] } : {}),
    note: `${graphs} graphs of up to 1,000 boxes: ${ink} crossings, dot's ${dotInk}`,
  }));
  writeFileSync(options.json, JSON.stringify(rows));
}

// Times what the memory timeline computes for its pictures. Prints Markdown.
//   node benchmarks/timeline.mjs            (needs `npm ci` in js/)
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const JS = fileURLToPath(new URL("../js", import.meta.url));
const esbuild = createRequire(`${JS}/package.json`)("esbuild");

const bundle = await esbuild.build({
  stdin: {
    contents: `
      export * from "./src/memory/blocks.ts";
      export * from "./src/memory/alive.ts";
      export * from "./src/memory/events.ts";
      export * from "./src/memory/group_sums.ts";
      export * from "./src/memory/block_map.ts";
      export * from "./src/memory/grouping.ts";
      export * from "./src/memory/stacking.ts";
      export { loopOfSteps } from "./test/memory/made_memory.ts";`,
    resolveDir: JS,
    loader: "ts",
  },
  bundle: true,
  write: false,
  platform: "node",
  format: "esm",
});
const source = Buffer.from(bundle.outputFiles[0].contents).toString("base64");
const memory = await import(`data:text/javascript;base64,${source}`);

/** The first run and the median of some warm ones, in ms. */
function times_ms(run) {
  const timed = () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  };
  const first = timed();
  const warm = Array.from({ length: 5 }, timed).sort((a, b) => a - b)[2];
  return `${first.toFixed(1)} / ${warm.toFixed(1)}`;
}

console.log("## Memory timeline, first / warm ms\n");
console.log(
  "| allocations | read and total | whole picture | a tenth | a thousandth | alive at the peak, by kind | block map |",
);
console.log("|---|---|---|---|---|---|---|");
for (const count of [1000, 10_000, 100_000, 1_000_000]) {
  const trace = memory.loopOfSteps(count);
  let blocks;
  const read = times_ms(() => {
    [blocks] = memory.blocksByPlace(trace);
  });
  const { peak_bytes, peak_ns } = blocks.events;
  const picture = (part) => {
    const span_ns = blocks.last_ns * part;
    const from_ns = (blocks.last_ns - span_ns) / 2;
    const window = { from_ns, to_ns: from_ns + span_ns, width_px: 1200, height_px: 300 };
    return times_ms(() => memory.stackBlocks(blocks, { ...window, height_bytes: peak_bytes }));
  };
  const groups = memory.groupAllocations(trace, "kind");
  const cells = [
    count,
    read,
    picture(1),
    picture(0.1),
    picture(0.001),
    times_ms(() => memory.sumGroups(groups, blocks, memory.aliveAt(blocks, peak_ns))),
    times_ms(() => memory.mapBlocks(trace, blocks, peak_ns, { width_px: 1000, kept_bytes: 2 ** 30 })),
  ];
  console.log(`| ${cells.join(" | ")} |`);
}

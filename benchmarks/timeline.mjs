// Times the computations of the memory timeline. Prints Markdown.
//   node benchmarks/timeline.mjs [--quick] [--json FILE]            (needs `npm ci` in js/)
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { fromSource } from "./from_source.mjs";

const { values: given } = parseArgs({
  options: { quick: { type: "boolean" }, json: { type: "string" } },
});

const memory = await fromSource(`
      export * from "./src/memory/map/block_map.ts";
      export * from "./src/memory/blocks/blocks.ts";
      export * from "./src/memory/grouping/group_sums.ts";
      export * from "./src/memory/grouping/grouping.ts";
      export * from "./src/memory/blocks/moment.ts";
      export * from "./src/memory/stack/stacking.ts";
      export * from "./test/records/made_memory.ts";`);

const SHAPES = {
  "training loop": memory.loopOfSteps,
  "random lives": memory.randomLives,
  "tiny temporaries": memory.tinyTemporaries,
  "never freed": memory.neverFreed,
};
const COUNTS = given.quick ? [1_000_000] : [10_000, 100_000, 1_000_000];
const rows = [];

/** CPU time in ms: the first run, and the median of several warm runs. */
function times_ms(run) {
  const timed = () => {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  const first = timed();
  const warm = Array.from({ length: 5 }, timed).sort((a, b) => a - b)[2];
  return { first, warm };
}

console.log("## Memory timeline, CPU ms, first / warm\n");
const PARTS = [
  "read and total",
  "whole picture",
  "a tenth",
  "a thousandth",
  "brush all: moment and table",
  "block map",
];
console.log(`| shape | allocations | ${PARTS.join(" | ")} |`);
console.log(`|---|---:|${PARTS.map(() => "---:|").join("")}`);
for (const [shape, make] of Object.entries(SHAPES)) {
  for (const count of COUNTS) {
    const trace = make(count);
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
    const figures = [
      read,
      picture(1),
      picture(0.1),
      picture(0.001),
      times_ms(() => {
        const moment = memory.momentOf(blocks, blocks.first_ns, blocks.last_ns);
        memory.sumGroups(groups, blocks, moment.alive, moment.started);
      }),
      times_ms(() =>
        memory.mapBlocks(trace, blocks, peak_ns, { width_px: 1000, kept_bytes: 2 ** 30 }),
      ),
    ];
    const cells = figures.map(({ first, warm }) => `${first.toFixed(1)} / ${warm.toFixed(1)}`);
    console.log(`| ${shape} | ${count.toLocaleString("en")} | ${cells.join(" | ")} |`);
    figures.forEach(({ first, warm }, at) => {
      rows.push({
        subject: `${shape}, ${count.toLocaleString("en")} allocations`,
        what: PARTS[at],
        tool: "Paddle Lab",
        // Reading happens once; everything else is repeated.
        value: at === 0 ? first : warm,
        unit: "ms",
        note: "CPU time",
      });
    });
    if (given.json) {
      writeFileSync(given.json, JSON.stringify(rows));
    }
  }
}

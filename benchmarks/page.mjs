// How fast a saved page shows, opens, expands and searches a trace in Chromium.
//   node benchmarks/page.mjs [--quick] [--json FILE] [--folder TAPES] [--runs N] [SUBJECT ...]
// Needs `npm ci` and `npm run build` in js/, and Chromium (CHROMIUM). Tapes that are not in the folder yet
// (BENCH_TAPES) need a Python with the packages of the tests (PYTHON). Prints Markdown: medians in ms. "main"
// is the CPU time of the page's main thread, "longest" its longest task of 50 ms or more during a step.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { chromium } = createRequire(join(ROOT, "js/package.json"))("playwright-core");

/** Bars of the page by itself, in ms. */
const BARS = {
  "open one block": { "hierarchical-50000": 50, "step-96": 50 },
  "open all": { "hierarchical-50000": 4000 },
  "table: each op": { "chain-100000": 200, "step-96": 200 },
  "table: sort": { "chain-100000": 150, "step-96": 150 },
  "table: filter": { "chain-100000": 100, "step-96": 100 },
  "time": { "chain-100000": 300, "step-96": 300 },
  "time: by stack": { "chain-100000": 300, "step-96": 300 },
  "time: zoom": { "chain-100000": 50, "step-96": 50 },
  "time: zoom, in order": { "chain-100000": 50, "step-96": 50 },
};
const SUBJECTS = ["chain-5000", "chain-20000", "chain-100000", "hierarchical-50000", "step-96"];
const QUICK = ["chain-5000", "hierarchical-50000"];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    folder: { type: "string" },
    runs: { type: "string" },
    static: { type: "string", default: join(ROOT, "paddle_lab/static") },
    screenshots: { type: "string" },
  },
});
const subjects = positionals.length ? positionals : options.quick ? QUICK : SUBJECTS;
const runs = Number(options.runs ?? (options.quick ? 2 : 3));
const tapes = options.folder || process.env.BENCH_TAPES || join(tmpdir(), "paddle_lab_tapes");

/** Runs before the page's own code: notes when a picture is on screen, and which tasks blocked the page. */
function observe() {
  const pdl = { longest: 0, since: 0, painted: undefined };
  window.pdlTimes = pdl;
  new PerformanceObserver((list) => {
    for (const { duration, startTime } of list.getEntries()) {
      if (startTime + duration >= pdl.since) pdl.longest = Math.max(pdl.longest, duration);
    }
  }).observe({ type: "longtask", buffered: true });
  const notePainted = () =>
    requestAnimationFrame(() => {
      // After this frame: its callbacks and its paint are done.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        pdl.painted = performance.now();
      };
      port2.postMessage(0);
    });
  new MutationObserver((changes) => {
    if (changes.length) notePainted();
  }).observe(document, { subtree: true, attributeFilter: ["data-in-view", "data-state", "data-drawn"] });
  pdl.begin = () => {
    pdl.longest = 0;
    pdl.painted = undefined;
    pdl.since = performance.now();
  };
  pdl.paintSoon = notePainted;
}

function payloadOf(name) {
  const path = join(tapes, `${name}.payload`);
  if (!existsSync(path)) {
    mkdirSync(tapes, { recursive: true });
    const python = process.env.PYTHON || "python";
    execFileSync(python, [join(ROOT, "benchmarks/tapes.py"), name, tapes]);
  }
  return readFileSync(path);
}

function pageOf(payload) {
  const text = (file) => readFileSync(join(options.static, file), "utf8");
  return [
    '<!doctype html><meta charset="utf-8">',
    `<style>body { margin: 0 }${text("widget.css")}</style><div id="pdl-root"></div>`,
    `<script type="application/x-paddle-lab">${payload.toString("base64")}</script>`,
    `<script type="module">${text("standalone.js").replaceAll("</script", "<\\/script")}</script>`,
  ].join("");
}

class Steps {
  constructor(page, session, figures) {
    this.page = page;
    this.session = session;
    this.figures = figures;
  }

  async cpu_ms() {
    const { metrics } = await this.session.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
  }

  /** @param act runs in the page; the step ends when the next picture is on screen */
  async take(name, act, argument) {
    const before = await this.cpu_ms();
    const took = await this.page.evaluate(
      async ([source, given]) => {
        const pdl = window.pdlTimes;
        pdl.begin();
        new Function("given", "pdl", source)(given, pdl);
        while (pdl.painted === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
        return pdl.painted - pdl.since;
      },
      [act, argument],
    );
    await this.page.waitForTimeout(200);
    await this.note(name, took, before);
  }

  async note(name, wall, before) {
    const figure = (this.figures[name] ??= { wall: [], main: [], longest: [] });
    figure.wall.push(wall);
    figure.main.push((await this.cpu_ms()) - before);
    figure.longest.push(await this.page.evaluate(() => window.pdlTimes.longest));
  }
}

const PRESS = (text) =>
  `[...document.querySelectorAll("button")].find((b) => b.textContent === ${JSON.stringify(text)}).click();`;
const SHOW = (mode) => `document.querySelector('[data-mode="${mode}"]').click();`;
/** Opens the first closed group in the outline, or unfolds the first run. */
const TOGGLE = `
  const row = document.querySelector('[role=treeitem][aria-expanded="false"]' + given);
  row.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));`;
const SELECT = `
  document.querySelector("[role=treeitem][data-op], [role=treeitem][data-group]").click();
  pdl.paintSoon();`;
const SEARCH = `
  const field = document.querySelector(".pdl-search input");
  field.value = given;
  field.dispatchEvent(new Event("input"));
  pdl.paintSoon();`;

/** Zooms into the widest box that is in another box, in a row of the icicle. */
const ZOOM = `
  const pointer = document.querySelector(".pdl-icicle-pointer");
  const { left, top, width } = pointer.getBoundingClientRect();
  const at = { bubbles: true, clientX: left + width * 0.6, clientY: top + 33 };
  pointer.dispatchEvent(new MouseEvent("dblclick", at));`;

async function measure(browser, address, figures) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.addInitScript(`(${observe})()`);
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const steps = new Steps(page, session, figures);
  await page.goto(address);
  await page.waitForFunction(() => window.pdlTimes.painted, null, { polling: 20, timeout: 60_000 });
  await page.waitForTimeout(300);
  await steps.note("first picture", await page.evaluate(() => window.pdlTimes.painted), 0);
  const shoot = async (name) =>
    options.screenshots && (await page.screenshot({ path: `${options.screenshots}-${name}.png` }));
  await shoot("first");
  const closed = '[role=treeitem][aria-expanded="false"]';
  if (await page.locator(closed).count()) {
    const fold = page.locator(`${closed}[aria-label*="repeated groups"]`);
    if (await fold.count()) await steps.take("unfold a run", TOGGLE, "[aria-label*='repeated groups']");
    await shoot("unfolded");
    await steps.take("open one block", TOGGLE, ":not([aria-label*='repeated'])");
    await shoot("opened");
  }
  await steps.take("select", SELECT);
  await steps.take("search", SEARCH, "ma");
  await steps.take("search on", SEARCH, "matmul");
  for (const mode of ["backward", "ladder", "forward"]) {
    const isOffered = await page.evaluate((name) => !!document.querySelector(`[data-mode="${name}"]`), mode);
    if (isOffered) await steps.take(mode, SHOW(mode));
  }
  // If nothing is closed, the buttons draw nothing.
  if (await page.locator("[role=treeitem][aria-expanded]").count()) {
    await steps.take("open all", PRESS("Open all"));
    await shoot("all");
    await steps.take("close all", PRESS("Close all"));
  }
  await steps.take("search: nothing", SEARCH, "");
  const press = (selector) => `document.querySelector('${selector}').click(); pdl.paintSoon();`;
  await steps.take("table", press('[data-mode="table"]'));
  await steps.take("table: each op", press('[data-rows="each"]'));
  await steps.take("table: sort", press('[data-sort="total"]'));
  await steps.take("table: sort by name", press('[data-sort="name"]'));
  await steps.take("table: filter", SEARCH, "a");
  await steps.take("table: all again", SEARCH, "");
  await steps.take("time", SHOW("time"));
  await steps.take("time: zoom", ZOOM);
  await shoot("time");
  await steps.take("time: by stack", `document.querySelector('[data-nesting="stack"]').click();`);
  await steps.take("time: back", `document.querySelector(".pdl-time-crumbs button").click();`);
  await context.close();
  return errors;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const folder = mkdtempSync(join(tmpdir(), "pdl-page-"));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
console.log(`Chromium ${browser.version()}, ${cpus().length} cores, ${runs} runs\n`);
console.log("| graph | step | ms | main | longest |\n|---|---|---|---|---|");
const rows = [];
for (const subject of subjects) {
  const address = join(folder, `${subject}.html`);
  writeFileSync(address, pageOf(payloadOf(subject)));
  const figures = {};
  const errors = new Set();
  for (let run = 0; run < runs; run++) {
    for (const error of await measure(browser, pathToFileURL(address).href, figures)) errors.add(error);
  }
  for (const [what, { wall, main, longest }] of Object.entries(figures)) {
    const [ms, main_ms, longest_ms] = [wall, main, longest].map((values) => Math.round(median(values)));
    console.log(`| ${subject} | ${what} | ${ms} | ${main_ms} | ${longest_ms || "–"} |`);
    const bar = BARS[what]?.[subject];
    const note = `longest task ${longest_ms} ms, main thread ${main_ms} ms`;
    rows.push({ subject, what: `page: ${what}`, tool: "Paddle Lab", value: ms, unit: "ms", ...(bar ? { bar } : {}), note });
  }
  if (errors.size) console.log(`\nErrors: ${[...errors].join("; ")}\n`);
  if (options.json) writeFileSync(options.json, JSON.stringify(rows, null, 1));
}
await browser.close();
rmSync(folder, { recursive: true, force: true });

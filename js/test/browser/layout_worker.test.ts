import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as Layout from "../../src/layout/index.ts";
import type { NestedGraph } from "../../src/layout/index.ts";
import { layoutNested } from "../../src/layout/index.ts";
import { decoder } from "../layout/graphs/nested_corpus.ts";
import { hasBrowser } from "./page.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface LayoutWindow {
  layout: typeof Layout;
  /** The worker's script. */
  source: string;
  graph: NestedGraph;
}
declare const window: LayoutWindow;

async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT, loader: "ts" },
    bundle: true,
    write: false,
    format: "iife",
    globalName: "bundled",
  });
  return outputFiles![0]!.text;
}

describe.skipIf(!hasBrowser)("layout workers in a browser", { timeout: 60_000 }, () => {
  let browser: Browser;
  let script = "";
  let source = "";
  const { graph } = decoder(4).nested(() => true);
  const expected = layoutNested(graph);

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    });
    script = await bundled('export * from "./src/layout/index.ts";');
    const worker = await bundled('export * from "./src/layout/worker_entry.ts";');
    source = `${worker}\n;bundled.serve()`;
  }, 60_000);
  afterAll(() => browser?.close());

  /** A page with the layout in it; `workers` tells how many were started since. */
  async function open(): Promise<{ page: Page; workers: () => number }> {
    const page = await browser.newPage();
    let started = 0;
    page.on("worker", () => started++);
    await page.addScriptTag({ content: `${script}; window.layout = bundled;` });
    await page.evaluate(
      ([text, columns]) => {
        window.source = text;
        const typed = Object.entries(columns).map(([name, values]) =>
          Array.isArray(values) ? [name, Float64Array.from(values)] : [name, values],
        );
        window.graph = Object.fromEntries(typed);
      },
      [
        source,
        Object.fromEntries(
          Object.entries(graph).map(([name, value]) => [
            name,
            ArrayBuffer.isView(value) ? Array.from(value as Float64Array) : value,
          ]),
        ),
      ] as const,
    );
    return { page, workers: () => started };
  }

  /** x of all items, as a worker finds them. */
  const lay = (page: Page): Promise<number[]> =>
    page.evaluate(async () => {
      const runner = window.layout.createLayoutRunner(window.layout.layoutNested, window.source);
      const { x } = await runner.layout(window.graph);
      runner.dispose();
      return Array.from(x);
    });

  test("go from one graph to the next", async () => {
    const { page, workers } = await open();
    expect(await lay(page)).toEqual(Array.from(expected.x));
    expect(await lay(page)).toEqual(Array.from(expected.x));
    expect(workers()).toBe(1);
  });

  test("are one for each graph that is laid out at the same time", async () => {
    const { page, workers } = await open();
    const [a, b] = await Promise.all([lay(page), lay(page)]);
    expect(a).toEqual(b);
    expect(workers()).toBe(2);
    expect(await lay(page)).toEqual(a);
    expect(workers()).toBe(2);
  });

  test("are started before the first graph", async () => {
    const { page, workers } = await open();
    await page.evaluate(() => window.layout.startLayout(window.source));
    expect(await lay(page)).toEqual(Array.from(expected.x));
    await page.evaluate(() => window.layout.startLayout(window.source));
    expect(workers()).toBe(1);
  });

  test("are given up with a layout that does not end soon", async () => {
    const { page, workers } = await open();
    const ended = await page.evaluate(async () => {
      const { createLayoutRunner, layoutNested: here } = window.layout;
      const count = 300_000;
      const chain: NestedGraph = {
        itemCount: count,
        parent: new Int32Array(count).fill(-1),
        open: new Uint8Array(count),
        width: new Float64Array(count).fill(100),
        height: new Float64Array(count).fill(28),
        edgeSource: Int32Array.from({ length: count }, (_, i) => Math.floor(i / 2)),
        edgeTarget: Int32Array.from({ length: count }, (_, i) => i),
      };
      const runner = createLayoutRunner(here, window.source);
      const given = runner.layout(chain).then(
        () => "done",
        (error: Error) => error.name,
      );
      runner.cancelCurrent();
      const next = await runner.layout(window.graph);
      runner.dispose();
      return [await given, next.x.length];
    });
    expect(ended).toEqual(["LayoutCancelled", graph.itemCount]);
    expect(workers()).toBe(2);
    expect(await lay(page)).toEqual(Array.from(expected.x));
  });
});

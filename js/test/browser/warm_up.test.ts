import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { endWarmUp } from "../../src/warm_up/ending.ts";
import type { warmUpViews } from "../../src/warm_up/warm_up.ts";
import { hasBrowser } from "./page.ts";

interface WarmUpWindow {
  bundled: { warmUpViews: typeof warmUpViews; endWarmUp: typeof endWarmUp };
  /** Words that were drawn on a canvas. */
  drawn: Set<string>;
}
declare const window: WarmUpWindow;

/** Notes what is drawn, and draws it. */
const NOTE_WORDS = `
  window.drawn = new Set();
  const { prototype } = CanvasRenderingContext2D;
  const fillText = prototype.fillText;
  prototype.fillText = function (text, ...place) {
    window.drawn.add(text);
    fillText.call(this, text, ...place);
  };`;

describe.skipIf(!hasBrowser)("the page is warmed up", { timeout: 60_000 }, () => {
  let browser: Browser;
  let script = "";

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    });
    const contents = `
      export * from "./src/warm_up/ending.ts";
      export * from "./src/warm_up/warm_up.ts";`;
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: fileURLToPath(new URL("../..", import.meta.url)) },
      bundle: true,
      write: false,
      format: "iife",
      globalName: "bundled",
    });
    script = outputFiles![0]!.text;
  }, 60_000);
  afterAll(() => browser?.close());

  async function open(): Promise<{ page: Page; errors: string[] }> {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.setContent("<!doctype html><p>A notebook</p>");
    await page.addScriptTag({ content: `${NOTE_WORDS}${script}; window.bundled = bundled;` });
    return { page, errors };
  }

  test("by pictures that nobody sees, and that leave nothing behind", async () => {
    const { page, errors } = await open();
    const before = await page.innerHTML("html");
    await page.evaluate(() => window.bundled.warmUpViews());
    expect(await page.evaluate(() => [...window.drawn])).toContain("tanh");
    expect(await page.innerHTML("html")).toBe(before);
    expect(errors).toEqual([]);
  });

  test("until there is a graph", async () => {
    const { page } = await open();
    await page.evaluate(() => {
      window.bundled.endWarmUp();
      return window.bundled.warmUpViews();
    });
    expect(await page.evaluate(() => window.drawn.size)).toBe(0);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryWriter } from "../records/made_memory.ts";
import { SyntheticTrace } from "../records/synthetic.ts";
import { encoder } from "../records/synthetic_nets.ts";
import { BrowserOfTests, clickInPicture, hasBrowser, placeOf } from "./page.ts";

/** A cell of as many lines, and ops that each read the one before. */
function cellOf(lineCount: number, opCount = 1): SyntheticTrace {
  const made = new SyntheticTrace();
  const frame = made.frame("/tmp/4.py", 1);
  const text = Array.from({ length: lineCount }, (_, line) => `x${line} = relu(x)`).join("\n");
  made.add("sources", {
    file: made.text("/tmp/4.py"),
    first_line: 1,
    text: made.text(text),
    cell: 4,
  });
  const stack = made.stack(frame);
  let inputs: number[] = [];
  for (let op = 0; op < opCount; op++) inputs = made.op("relu", { stack, inputs }).out;
  return made;
}

describe.skipIf(!hasBrowser)("less room in a browser", { timeout: 30_000 }, () => {
  const browser = new BrowserOfTests();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test.each([
    [760, true],
    [1200, false],
  ])("a page %d px wide keeps half of its width for the picture", async (width, isBelow) => {
    const { page } = await browser.open(encoder(1).bytes(), { viewport: { width, height: 900 } });
    const picture = (await page.locator(".pdl-canvas").boundingBox())!;
    const panel = (await page.locator(".pdl-panel").boundingBox())!;
    expect(picture.width).toBeGreaterThan(width / 2);
    expect(panel.y >= picture.y + picture.height).toBe(isBelow);
  });

  test("in a narrow page the row that tells of an error shows all its buttons", async () => {
    const made = cellOf(2);
    made.tables.ops.raised![0] = 1;
    made.origin.exception = "ValueError: no\nhint";
    Object.assign(made.origin, { stopped_file: "/tmp/4.py", stopped_line: 2, stopped_cell: 4 });
    const viewport = { width: 300, height: 900 };
    const { page } = await browser.open(made.bytes(), { viewport });
    const row = (await page.locator(".pdl-banner-row").boundingBox())!;
    for (const one of await page.locator(".pdl-banner-row > .pdl-button").all()) {
      const { x, width } = (await one.boundingBox())!;
      expect(x + width).toBeLessThanOrEqual(row.x + row.width);
    }
    await page.getByRole("button", { name: "More" }).click();
    const message = (await page.locator(".pdl-banner-row > code").boundingBox())!;
    expect(message.width).toBeGreaterThan(0.85 * row.width);
  });

  test("below the picture the panel is as high as what it says, up to half", async () => {
    const heights: number[] = [];
    for (const lineCount of [2, 8, 200]) {
      const { page } = await browser.openWidget(cellOf(lineCount).bytes());
      await page.setViewportSize({ width: 760, height: 900 });
      await page.waitForSelector(".pdl-source-whole [data-line]");
      heights.push((await page.locator(".pdl-panel").boundingBox())!.height);
      const body = (await page.locator(".pdl-body").boundingBox())!.height;
      expect(heights.at(-1)).toBeLessThanOrEqual(body / 2);
    }
    expect(heights[0]).toBeLessThan(140);
    expect(heights[1]).toBeGreaterThan(heights[0]! + 60);
    expect(heights[2]).toBeGreaterThan(heights[1]! + 20);
  });

  test("a panel that grows below the picture does not cover what was clicked", async () => {
    const { page } = await browser.openWidget(cellOf(2, 12).bytes());
    await page.setViewportSize({ width: 760, height: 900 });
    await page.waitForSelector("[data-op='11'][data-centre]", { state: "attached" });
    const canvas = page.locator(".pdl-canvas");
    const before = (await canvas.boundingBox())!;
    const scaleOf = async (): Promise<string> =>
      (await canvas.locator("canvas").getAttribute("data-camera"))!.split(" ")[2]!;
    const scale = await scaleOf();
    // The lowest of those in view.
    let lowest = "";
    for (let op = 0; op < 12; op++) {
      const { y } = await placeOf(page, `[data-op='${op}']`);
      if (y < before.y + before.height - 10) lowest = `[data-op='${op}']`;
    }
    await clickInPicture(page, lowest);
    await expect
      .poll(async () => (await canvas.boundingBox())!.height)
      .toBeLessThan(before.height - 40);
    const { y, height } = (await canvas.boundingBox())!;
    await expect.poll(async () => (await placeOf(page, lowest)).y).toBeLessThan(y + height - 10);
    expect(await scaleOf()).toBe(scale);
  });

  test.each([820, 1000, 1440])("the summary at %d px is not cut, only shorter", async (width) => {
    const { page } = await browser.open(encoder(1).bytes(), { viewport: { width, height: 900 } });
    const summary = page.locator(".pdl-summary");
    const full = (await summary.getAttribute("title"))!;
    expect(full).toMatch(/^[\d,]+ ops · .*Paddle/);
    const { shown, cut } = await summary.evaluate((line) => {
      const edge = line.getBoundingClientRect();
      const parts = [...line.children].filter(
        (part) => part.getBoundingClientRect().top < edge.bottom - 2,
      );
      return {
        shown: parts.map((part) => part.textContent).join(" · "),
        cut: parts.some((part) => part.getBoundingClientRect().right > edge.right + 0.5),
      };
    });
    expect(cut).toBe(false);
    expect(full.startsWith(shown)).toBe(true);
    expect(shown).toMatch(/^[\d,]+ ops/);
    if (width === 1440) expect(shown).toBe(full);
    expect((await page.locator(".pdl-toolbar").boundingBox())!.height).toBeLessThan(50);
    const help = (await page.getByRole("button", { name: "Help" }).boundingBox())!;
    expect(width - help.x - help.width).toBeLessThan(20);
  });

  test.each([980, 1250])("at %d px the toolbar with all its parts is one row", async (width) => {
    const made = new SyntheticTrace();
    for (let step = 0; step < 2; step++) {
      made.backward(made.op("mean", { inputs: [made.tensor("[4]")] }).gradNode);
    }
    new MemoryWriter(made).block(0, 9, 64);
    const { page } = await browser.open(made.bytes(), { viewport: { width, height: 900 } });
    await page.locator("[data-mode=ladder]").click();
    await page.getByLabel("Backward call").waitFor();
    expect(await page.locator("[data-mode=memory]").isVisible()).toBe(true);
    expect((await page.locator(".pdl-toolbar").boundingBox())!.height).toBeLessThan(50);
    const calls = (await page.getByLabel("Backward call").boundingBox())!;
    const search = (await page.locator(".pdl-search").boundingBox())!;
    expect(calls.x + calls.width).toBeLessThan(search.x);
  });

  test("a cell that ran no op takes no more room than its sentence", async () => {
    const { page } = await browser.openWidget(new SyntheticTrace().bytes());
    await page.waitForSelector(".pdl-empty");
    expect(await page.textContent(".pdl-empty")).toContain("This cell ran no Paddle op.");
    for (const width of [1000, 600]) {
      await page.setViewportSize({ width, height: 900 });
      const { height } = (await page.locator(".pdl-app").boundingBox())!;
      expect(height).toBeLessThan(130);
      const sentence = (await page.locator(".pdl-empty > strong").boundingBox())!;
      const body = (await page.locator(".pdl-body").boundingBox())!;
      expect(sentence.y + sentence.height).toBeLessThan(body.y + body.height);
      expect(await page.locator(".pdl-summary").isVisible()).toBe(true);
    }
    expect(await page.getByRole("button").count()).toBe(0);
  });
});

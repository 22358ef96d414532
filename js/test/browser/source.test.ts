import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SyntheticTrace } from "../records/synthetic.ts";
import { BrowserOfTests, hasBrowser } from "./page.ts";

/** Cell 5 calls a function of cell 2, which calls Paddle. */
function tracedCell(): SyntheticTrace {
  const made = new SyntheticTrace();
  const frame = (file: string, cell: number, text: string): number => {
    const key = made.frame(file, 1, "f", cell < 0 ? "paddle" : "user");
    made.tables.frames.cell![key] = cell;
    made.add("sources", { file: made.text(file), first_line: 1, text: made.text(text), cell });
    return key;
  };
  const cell = made.stack(frame("/tmp/5.py", 5, "train()\n"));
  const defining = made.stack(frame("/tmp/2.py", 2, "def train(): relu(x)\n"), cell);
  const layer = made.stack(frame("/site/paddle/nn/layer/norm.py", -1, "x = 1"), defining);
  const functional = made.stack(frame("/site/paddle/nn/functional/norm.py", -1, "y = 2"), layer);
  for (let op = 0; op < 3; op++) made.op("relu", { stack: functional });
  made.op("mean", { stack: defining });
  return made;
}

describe.skipIf(!hasBrowser)("the source in a browser", { timeout: 30_000 }, () => {
  const browser = new BrowserOfTests();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test("it opens on the traced cell; Paddle's files wait in a fold, told apart", async () => {
    const { page, errors } = await browser.open(tracedCell().bytes());
    const source = page.getByRole("tabpanel", { name: "Source" });
    await source.getByText("train()", { exact: true }).waitFor();
    await source.getByRole("button", { name: "Source: Cell 5" }).click();
    const menu = source.getByRole("menu");
    const items = () => menu.locator("button").allInnerTexts();
    expect((await items()).map((text) => text.replace(/\s+/g, " ").trim())).toEqual([
      "✓ Cell 5 traced",
      "Cell 2",
      "▸ 2 files of Paddle",
    ]);
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    expect((await items()).slice(2).map((text) => text.trim())).toEqual([
      "functional/norm.py",
      "layer/norm.py",
    ]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await source.getByText("x = 1").waitFor();
    expect(await source.getByRole("menu").isVisible()).toBe(false);
    expect(errors).toEqual([]);
  });
});

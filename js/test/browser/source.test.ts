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

  test("the gutter says which compiled program runs a line, and what Python runs", async () => {
    const made = tracedCell();
    const file = made.text("/tmp/2.py");
    const text = made.text("def f(x):\n    y = x * 2\n    y = g(y)\n    print(y)\n    return y\n");
    made.add("sources", { file: made.text("/tmp/9.py"), first_line: 1, text, cell: 9 });
    for (const [line, program] of [
      [2, 0],
      [3, 0],
      [3, 1],
      [4, -1],
    ] as const) {
      made.add("program_lines", { program, file: made.text("/tmp/9.py"), line });
    }
    made.add("program_lines", { program: 1, file, line: 1 });
    const { page, errors } = await browser.open(made.bytes());
    const source = page.getByRole("tabpanel", { name: "Source" });
    await source.getByRole("button", { name: "Source: Cell 5" }).click();
    expect(await source.getByRole("group", { name: "Compiled programs" }).count()).toBe(0);
    await source.getByRole("menu").getByText("Cell 9").click();
    const bars = await source
      .getByRole("img")
      .evaluateAll((all) => all.map((bar) => [bar.getAttribute("aria-label"), bar.textContent]));
    expect(bars).toEqual([
      ["Runs in compiled program 1", "1"],
      ["Runs in compiled program 1\nRuns in compiled program 2", "2"],
      ["Python runs this line eagerly, outside of the compiled programs", ""],
    ]);
    const legend = source.getByRole("group", { name: "Compiled programs" });
    expect(await legend.getByRole("button").allInnerTexts()).toEqual([
      "Program 1",
      "Program 2",
      "Eager Python",
    ]);
    await legend.getByRole("button", { name: "Eager Python" }).press("Enter");
    await source.locator(".pdl-lit[data-line='4']").waitFor();
    expect(errors).toEqual([]);
  });
});

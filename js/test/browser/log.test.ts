import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SyntheticTrace } from "../records/synthetic.ts";
import { BrowserOfTests, hasBrowser } from "./page.ts";

function logged(): SyntheticTrace {
  const made = new SyntheticTrace();
  const first = made.op("matmul");
  const second = made.op("relu", { inputs: first.out });
  made.backward(second.gradNode);
  const entries: [number, number, string][] = [
    [first.op, -1, "====Running_AD_API: matmul===="],
    [first.op, -1, "<b>kernel</b>"],
    [second.op, -1, "====Running_AD_API: relu===="],
    [-1, -1, "Run in Backward"],
    [-1, first.gradNode, "MatmulGradNode Preparing"],
  ];
  for (const [op, grad_node, text] of entries) {
    const [source_file, severity] = [made.text("api.cc"), made.text("I")];
    made.add("log", { op, grad_node, text: made.text(text), source_file, severity });
  }
  return made;
}

describe.skipIf(!hasBrowser)("Paddle's log in a browser", { timeout: 30_000 }, () => {
  const browser = new BrowserOfTests();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test("entries are folded under their op, searched, and follow the selection", async () => {
    const { page, errors } = await browser.open(logged().bytes());
    await page.getByRole("tab", { name: "Log" }).click();
    const log = page.getByRole("tabpanel", { name: "Log" });
    await log.getByText("5 entries", { exact: true }).waitFor();
    const blocks = log.locator("details");
    expect(await blocks.locator("summary").allInnerTexts()).toEqual([
      "matmul #0 · 2 entries",
      "relu #1 · 1 entry",
      "MatmulGradNode · 1 entry",
    ]);
    expect(await log.getByText("Run in Backward").isVisible()).toBe(true);
    expect(await log.getByText("<b>kernel</b>").isVisible()).toBe(false);
    await log.getByRole("searchbox").fill("KERNEL");
    await log.getByText("1 of 5 entries").waitFor();
    expect(await log.getByText("<b>kernel</b>").isVisible()).toBe(true);
    await log.getByRole("button", { name: "matmul #0" }).click();
    await log.getByRole("searchbox").fill("");
    await log.getByText("3 of 5 entries").waitFor();
    expect(await log.locator("pre").allInnerTexts()).toEqual([
      "Running_AD_API: matmul",
      "<b>kernel</b>",
      "MatmulGradNode Preparing",
    ]);
    await log.getByRole("button", { name: "All entries" }).click();
    await log.getByText("5 entries", { exact: true }).waitFor();
    expect(errors).toEqual([]);
  });

  test("a trace without a log has no such tab", async () => {
    const made = new SyntheticTrace();
    made.op("relu");
    const { page } = await browser.open(made.bytes());
    await page.getByRole("tab", { name: "Details" }).waitFor();
    expect(await page.getByRole("tab", { name: "Log" }).count()).toBe(0);
  });
});

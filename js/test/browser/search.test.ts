import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SyntheticTrace } from "../records/synthetic.ts";
import { BrowserOfTests, hasBrowser } from "./page.ts";

describe.skipIf(!hasBrowser)("searching in a browser", { timeout: 30_000 }, () => {
  const browser = new BrowserOfTests();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test("of repeated calls the list says in which an op is", async () => {
    const made = new SyntheticTrace();
    let x = made.tensor("[4]", { kind: "external" });
    for (let step = 1; step <= 3; step++) {
      const call = made.group(`step ${step}`, { kind: "turn", structure: 5 });
      const net = made.group("net", { parent: call, className: "Net", structure: 6 });
      made.tables.groups.path![net] = made.text("net");
      x = made.op("relu", { group: net, inputs: [x] }).out[0]!;
      x = made.op("softmax", { group: net, inputs: [x] }).out[0]!;
    }
    const { page, errors } = await browser.open(made.bytes());
    await page.fill(".pdl-search input", "softmax");
    await expect
      .poll(() => page.locator(".pdl-search-group").allTextContents())
      .toEqual(["step 1 · net", "step 2 · net", "step 3 · net"]);
    expect(errors).toEqual([]);
  });
});

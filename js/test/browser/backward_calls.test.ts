import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SyntheticTrace } from "../records/synthetic.ts";
import { BrowserOfTests, clickInPicture, hasBrowser } from "./page.ts";

/** So many steps: one op and its backward call each. */
function steps(count: number): SyntheticTrace {
  const made = new SyntheticTrace();
  for (let step = 0; step < count; step++) {
    const input = made.tensor("[4]", { kind: "external" });
    const { gradNode } = made.op("mean", { inputs: [input], shape: "[]" });
    made.backward(gradNode);
  }
  return made;
}

describe.skipIf(!hasBrowser)("several backward calls in a browser", { timeout: 30_000 }, () => {
  const browser = new BrowserOfTests();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test("the backward graph is that of the selected op, unless another call was chosen", async () => {
    const { page, errors } = await browser.open(steps(3).bytes());
    const chosen = page.getByLabel("Backward call");
    await clickInPicture(page, "[data-op='2']");
    await page.keyboard.press("2");
    await page.waitForSelector("[data-grad-node='2'][data-centre]", { state: "attached" });
    expect(await chosen.inputValue()).toBe("2");
    // With nothing selected the choice is kept.
    await page.keyboard.press("Escape");
    await chosen.selectOption({ label: "2 · Tensor.backward" });
    await page.waitForSelector("[data-grad-node='1'][data-centre]", { state: "attached" });
    await page.locator("[data-mode=forward]").click();
    await page.locator("[data-mode=backward]").click();
    await page.waitForSelector("[data-grad-node='1'][data-centre]", { state: "attached" });
    expect(await chosen.inputValue()).toBe("1");
    expect(errors).toEqual([]);
  });

  test("of thousands the number is asked for, and the panel lists the first", async () => {
    const { page, errors } = await browser.open(steps(2000).bytes());
    await page.locator("[data-mode=backward]").click();
    const chosen = page.getByRole("spinbutton", { name: "Backward call" });
    await expect.poll(() => chosen.inputValue()).toBe("1");
    expect(await page.locator(".pdl-calls").textContent()).toMatch(/of 2.000$/);
    await chosen.fill("1234");
    await chosen.press("Enter");
    await page.waitForSelector("[data-grad-node='1233'][data-centre]", { state: "attached" });
    // What there is not is the nearest that there is.
    await chosen.fill("9999");
    await chosen.press("Enter");
    await page.waitForSelector("[data-grad-node='1999'][data-centre]", { state: "attached" });
    expect(await chosen.inputValue()).toBe("2000");
    await page.getByRole("tab", { name: "Details" }).click();
    const listed = page.locator(".pdl-panel section", { hasText: "Backward graphs" });
    expect(await listed.getByRole("button").count()).toBe(100);
    expect(await listed.textContent()).toMatch(/and 1.900 more/);
    expect(errors).toEqual([]);
  });
});

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

  test("the host time of iterations and lines has their backward calls, as in the table", async () => {
    const made = new SyntheticTrace();
    const stack = made.stack(made.frame("train.py", 4));
    const loop = made.add("loops", { line: 3, words: made.text("step") });
    for (const number of [1, 2]) {
      const turn = made.group(`step ${number}`, { kind: "turn", className: "" });
      const scope = made.tables.groups.scope![turn]!;
      made.add("turns", { scope, loop, number, value: 0 });
      const { op, gradNode } = made.op("mean", { group: turn, stack });
      made.tables.ops.start_ns![op] = number * 10_000;
      made.tables.ops.duration_ns![op] = 1000;
      made.tables.ops.thread![op] = 0;
      const call = made.backward(gradNode);
      made.tables.backward_calls.scope![call] = scope;
      made.tables.backward_calls.stack![call] = stack;
      const start_ns = number * 10_000 + 2000;
      made.add("backward_times", {
        backward_call: call,
        thread: 0,
        start_ns,
        duration_ns: 3000 * number,
      });
    }
    const { page, errors } = await browser.open(made.bytes());
    const time = page.locator(".pdl-facts dt:text-is('host time') + dd");
    expect(await time.textContent()).toContain("11 µs in ops and backward calls");
    await clickInPicture(page, "[data-group='1']");
    await expect.poll(() => time.textContent()).toMatch(/^7 µs · 64 % of/);
    await page.locator("[data-mode=table]").click();
    for (const [rows, row, total] of [
      ["turn", "step 2", "7 µs"],
      ["line", "line 4", "11 µs"],
    ] as const) {
      await page.locator(`[data-rows=${rows}]`).click();
      const listed = page.locator(".pdl-costs-rows tbody tr", { hasText: row });
      expect(await listed.first().textContent()).toContain(total);
      await listed.first().click();
      await page.getByRole("tab", { name: "Details" }).click();
      await expect.poll(() => time.textContent()).toContain(`${total} ·`);
    }
    expect(errors).toEqual([]);
  });
});

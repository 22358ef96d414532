import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SyntheticTrace } from "../records/synthetic.ts";
import { encoder } from "../records/synthetic_nets.ts";
import { BrowserOfTests, hasBrowser, placeOf } from "./page.ts";

const BLOCKS = 420;
const SETTLED = ".pdl-canvas:not([aria-busy])";
const rows = (page: Page, which = "") => page.locator(`[role=treeitem]${which}`);

/** Presses the button and then keys, before the page has had time for anything else. */
async function press(page: Page, button: string, key = ""): Promise<void> {
  await page.evaluate(
    ([name, pressed]) => {
      const buttons = [...document.querySelectorAll<HTMLElement>("button")];
      buttons.find((one) => one.textContent === name)!.click();
      if (pressed) {
        document
          .querySelector(".pdl-canvas > canvas")!
          .dispatchEvent(new KeyboardEvent("keydown", { key: pressed!, bubbles: true }));
      }
    },
    [button, key],
  );
}

/** A group whose ops are joined at random, which takes a layout long; it is closed at first. */
function tangle(count: number): SyntheticTrace {
  const made = new SyntheticTrace();
  const group = made.group("tangle", { className: "Tangle" });
  const tensors = [made.tensor("[4]", { kind: "external" })];
  for (let op = 0; op < 5; op++) {
    tensors.push(made.op("relu", { inputs: [tensors[op]!], hasGrad: false }).out[0]!);
  }
  let random = 1;
  const anyTensor = (): number => {
    random = (random * 48_271) % 2_147_483_647;
    return tensors[random % tensors.length]!;
  };
  for (let op = 0; op < count; op++) {
    const inputs = [anyTensor(), anyTensor()];
    tensors.push(made.op("add", { group, inputs, hasGrad: false }).out[0]!);
  }
  return made;
}

describe.skipIf(!hasBrowser)("a large graph in a browser", { timeout: 60_000 }, () => {
  const browser = new BrowserOfTests();
  const payload = encoder(BLOCKS).bytes();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test("Escape gives up opening everything, and leaves picture and outline as they were", async () => {
    const { page, errors } = await browser.open(payload);
    const before = await rows(page).evaluateAll((all) => all.map((row) => row.outerHTML));
    await press(page, "Open all", "Escape");
    await page.waitForSelector(SETTLED);
    expect(await rows(page).evaluateAll((all) => all.map((row) => row.outerHTML))).toEqual(before);
    expect(await page.textContent(".pdl-status")).not.toContain("Cancel");
    // What was given up can be asked for again.
    await press(page, "Open all");
    await page.waitForSelector("[role=treeitem][data-op='1'][data-centre]", { state: "attached" });
    await page.locator(".pdl-canvas > canvas").press("Control+z");
    await expect.poll(() => rows(page, "[data-op='1']").count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test("who presses Cancel goes on with the keyboard in the picture", async () => {
    const { page, errors } = await browser.open(tangle(20_000).bytes());
    const at = await placeOf(page, "[data-group='0']");
    await page.mouse.dblclick(at.x, at.y);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.waitForSelector(SETTLED);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("CANVAS");
    expect(await page.getAttribute("[data-group='0']", "aria-expanded")).toBe("false");
    expect(errors).toEqual([]);
  });

  test("the next click is answered while everything is being opened", async () => {
    const { page, errors } = await browser.open(payload);
    await press(page, "Open all");
    await press(page, "Backward");
    await press(page, "Close all");
    await page.waitForSelector(SETTLED);
    await expect.poll(() => rows(page, "[data-group]").count()).toBe(1);
    expect(await page.getAttribute("[data-mode=backward]", "aria-pressed")).toBe("true");
    expect(errors).toEqual([]);
  });

  test("of thousands of outline rows those around the selection are there, with their places", async () => {
    const { page } = await browser.open(payload);
    await press(page, "Open all");
    await page.waitForSelector("[role=treeitem][data-op='1'][data-centre]", { state: "attached" });
    expect(await rows(page).count()).toBeLessThan(1000);
    await rows(page).first().focus();
    await page.keyboard.press("End");
    const last = page.locator('[role=treeitem][aria-selected="true"]');
    expect(await last.getAttribute("data-op")).toBe(String(4 * BLOCKS + 2));
    expect(await last.evaluate((row) => row === document.activeElement)).toBe(true);
    const [position, siblings] = await Promise.all(
      ["aria-posinset", "aria-setsize"].map((name) => last.getAttribute(name)),
    );
    expect(position).toBe(siblings);
    expect(await last.getAttribute("data-centre")).toBeTruthy();
    await page.keyboard.press("Home");
    expect(await rows(page, '[aria-selected="true"]').getAttribute("data-group")).toBe("0");
  });

  test("Shift+Enter opens one of a fold, the menu folds it again", async () => {
    const { page } = await browser.open(payload);
    const fold = rows(page, "[aria-label*='repeated groups']");
    await fold.dispatchEvent("click");
    await page.locator(".pdl-canvas > canvas").press("Shift+Enter");
    await expect.poll(() => rows(page, "[data-op='1']").count()).toBe(1);
    expect(await fold.getAttribute("aria-label")).toContain(`${BLOCKS - 1} repeated groups`);
    await page.getByRole("button", { name: "View" }).click();
    await page.getByRole("menuitem", { name: "Fold repeats" }).click();
    await expect.poll(() => fold.getAttribute("aria-label")).toContain(`${BLOCKS} repeated groups`);
  });
});

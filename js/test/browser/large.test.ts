import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoder } from "../records/synthetic_nets.ts";
import { BrowserOfTests, hasBrowser } from "./page.ts";

const BLOCKS = 420;
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

describe.skipIf(!hasBrowser)("a large graph in a browser", { timeout: 60_000 }, () => {
  const browser = new BrowserOfTests();
  const payload = encoder(BLOCKS).bytes();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test("clicks that follow each other at once are all answered", async () => {
    const { page, errors } = await browser.open(payload);
    await press(page, "Open all");
    await press(page, "Backward");
    await press(page, "Close all");
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

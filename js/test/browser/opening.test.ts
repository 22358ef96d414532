/** What a click and a second press do at once, and what follows them beside the picture. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoder } from "../records/synthetic_nets.ts";
import { BrowserOfTests, hasBrowser, placeOf, selected } from "./page.ts";

const heading = (page: Page) => page.locator(".pdl-details-page h2");

describe.skipIf(!hasBrowser)("opening, in a browser", { timeout: 30_000 }, () => {
  const browser = new BrowserOfTests();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  async function closed(): Promise<{ page: Page; errors: string[] }> {
    const opened = await browser.open(encoder(1).bytes());
    await opened.page.getByRole("button", { name: "Close all", exact: true }).click();
    await expect.poll(() => opened.page.locator("[role=treeitem][data-op='2']").count()).toBe(0);
    return opened;
  }

  test.each([
    ["a mouse opens a group as it is pressed again", "mouse", [false, false, true, true]],
    ["a finger, which may begin to pinch, as it is lifted", "touch", [false, false, false, true]],
  ])("%s", async (_, pointerType, isOpening) => {
    const { page, errors } = await closed();
    const at = await placeOf(page, "[data-group='0']");
    const seen = await page.evaluate(
      ([type, x, y]) => {
        const canvas = document.querySelector(".pdl-canvas > canvas")!;
        // There is no pointer that could be captured.
        canvas.setPointerCapture = () => {};
        return ["pointerdown", "pointerup", "pointerdown", "pointerup"].map((name) => {
          const given = { pointerType: type, pointerId: 7, clientX: x, clientY: y, bubbles: true };
          canvas.dispatchEvent(new PointerEvent(name, given));
          const buttons = [...document.querySelectorAll("button")];
          const close = buttons.find((one) => one.textContent === "Close all")!;
          return close.getAttribute("aria-disabled") === "false";
        });
      },
      [pointerType, at.x, at.y] as const,
    );
    expect(seen).toEqual(isOpening);
    await page.waitForSelector("[role=treeitem][data-op='0'][data-centre]", { state: "attached" });
    expect(await page.getAttribute("[data-group='0']", "aria-expanded")).toBe("true");
    expect(await selected(page)).toBe("group 0");
    // The panel tells of the group that is open now.
    await page.getByRole("button", { name: "Close group" }).waitFor();
    expect(errors).toEqual([]);
  });

  test("with everything open there is nothing to open, and the button says so", async () => {
    const { page, errors } = await closed();
    const [open, close] = ["Open all", "Close all"].map((name) =>
      page.getByRole("button", { name, exact: true }),
    );
    expect(await close!.getAttribute("aria-disabled")).toBe("true");
    await open!.click();
    await page.waitForSelector("[role=treeitem][data-op='0'][data-centre]", { state: "attached" });
    expect(await open!.getAttribute("aria-disabled")).toBe("true");
    expect(await open!.getAttribute("title")).toBe("Every group is open");
    expect(await close!.getAttribute("aria-disabled")).toBe("false");
    await page.evaluate(() => (document.activeElement as HTMLElement).click());
    // The keys have stayed where they were.
    expect(await page.evaluate(() => document.activeElement!.textContent)).toBe("Open all");
    expect(errors).toEqual([]);
  });

  test("of many selections the panel tells of the last, after the picture", async () => {
    const { page, errors } = await browser.open(encoder(1).bytes());
    await page.getByRole("tab", { name: "Details" }).click();
    const seen = await page.evaluate(() => {
      const rows = [...document.querySelectorAll<HTMLElement>("[role=treeitem][data-op]")];
      const panel = document.querySelector(".pdl-details-page")!;
      const before = panel.textContent;
      let written = 0;
      new MutationObserver(() => written++).observe(panel, { childList: true });
      for (const row of rows.slice(0, 3)) row.click();
      Object.assign(window, { written: () => written });
      return {
        isSameYet: panel.textContent === before,
        isMarked: rows[2]!.getAttribute("aria-selected"),
      };
    });
    expect(seen).toEqual({ isSameYet: true, isMarked: "true" });
    await expect.poll(() => heading(page).textContent()).toContain("gelu");
    expect(await page.evaluate(() => (window as unknown as { written(): number }).written())).toBe(
      1,
    );
    expect(errors).toEqual([]);
  });

  test("what a second press opens is seen before the panel tells what the first one selected", async () => {
    const { page, errors } = await closed();
    await page.getByRole("tab", { name: "Details" }).click();
    const at = await placeOf(page, "[data-group='0']");
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    const seen = await page.evaluate(
      ({ x, y }) =>
        new Promise((resolve) => {
          const canvas = document.querySelector<HTMLElement>(".pdl-canvas > canvas")!;
          const panel = document.querySelector(".pdl-details-page")!;
          const inView = (): string | undefined => canvas.dataset.inView;
          const before = inView();
          new MutationObserver(() => resolve([before, inView()])).observe(panel, {
            childList: true,
          });
          // There is no pointer that could be captured.
          canvas.setPointerCapture = () => {};
          const press = (name: string): void => {
            const given = { pointerType: "mouse", pointerId: 1, clientX: x, clientY: y };
            canvas.dispatchEvent(new PointerEvent(name, { ...given, bubbles: true }));
          };
          press("pointerup");
          // After what waits for the frame of the first click, and before anything else.
          requestAnimationFrame(() => press("pointerdown"));
        }),
      at,
    );
    expect(seen).toEqual(["2", "4"]);
    expect(errors).toEqual([]);
  });

  test("a row that is marked stays the element that it was, with the focus", async () => {
    const { page } = await browser.open(encoder(1).bytes());
    const isSame = await page.evaluate(async () => {
      const row = document.querySelector<HTMLElement>("[role=treeitem][data-op='2']")!;
      row.focus();
      row.click();
      const isMarked = row.getAttribute("aria-selected") === "true" && row.tabIndex === 0;
      const other = document.querySelector<HTMLElement>("[role=treeitem][data-op='1']")!;
      other.click();
      return [
        isMarked,
        row.isConnected,
        row.getAttribute("aria-selected"),
        row.tabIndex,
        row.hasAttribute("data-lit"),
      ];
    });
    expect(isSame).toEqual([true, true, "false", -1, false]);
    expect(await selected(page)).toBe("op 1");
  });
});

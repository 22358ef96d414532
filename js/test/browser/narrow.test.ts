import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoder } from "../synthetic_nets.ts";
import { BrowserOfTests, hasBrowser } from "./page.ts";

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
});

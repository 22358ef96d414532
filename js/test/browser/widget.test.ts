import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chain, encoder } from "../records/synthetic_nets.ts";
import { BrowserOfTests, clickInPicture, type HostedWindow, hasBrowser, selected } from "./page.ts";

describe.skipIf(!hasBrowser)("the widget's module", { timeout: 30_000 }, () => {
  const browser = new BrowserOfTests();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test("a selection goes to the traits, and what the traits say is selected", async () => {
    const { page, errors } = await browser.openWidget(encoder(1).bytes());
    await page.waitForSelector("[data-op='2'][data-centre]", { state: "attached" });
    await clickInPicture(page, "[data-op='2']");
    expect(await selected(page)).toBe("op 2");
    const told = await page.evaluate(() => {
      const { model } = window as unknown as HostedWindow;
      return [model.values.selected_op, model.values.selected_grad_node, model.saved];
    });
    expect(told).toEqual([2, -1, 1]);
    await page.evaluate(() => {
      (window as unknown as HostedWindow).model.set("selected_op", 3);
    });
    expect(await selected(page)).toBe("op 3");
    await page.evaluate(() => {
      (window as unknown as HostedWindow).model.set("selected_op", -1);
    });
    expect(await selected(page)).toBe("");
    expect(errors).toEqual([]);
  });

  test("it is as high as it was told to be, and gone when its host takes it down", async () => {
    const { page } = await browser.openWidget(encoder(1).bytes());
    const { height } = (await page.locator(".pdl-app").boundingBox())!;
    expect(Math.abs(height - 420)).toBeLessThan(30);
    await page.evaluate(() => (window as unknown as HostedWindow).cleanUp());
    expect(await page.locator("#out").innerHTML()).toBe("");
  });

  test("where there is little room it is as high with an empty panel as with a full one", async () => {
    const { page } = await browser.openWidget(encoder(1).bytes());
    await page.setViewportSize({ width: 600, height: 900 });
    await page.getByRole("tab", { name: "Details" }).click();
    const heightOf = async (): Promise<number> =>
      (await page.locator(".pdl-app").boundingBox())!.height;
    await expect.poll(heightOf).toBeGreaterThan(500);
    const full = await heightOf();
    await page.evaluate(() => (window as unknown as HostedWindow).model.set("selected_op", 3));
    expect(await heightOf()).toBe(full);
    await page.evaluate(() => document.querySelector(".pdl-panel")!.replaceChildren());
    expect(await heightOf()).toBe(full);
  });

  test("without its data it says what to do", async () => {
    const { page } = await browser.openWidget(undefined);
    expect(await page.textContent(".pdl-error")).toContain("run the cell again");
  });

  test("in a page that nbconvert made it says how to get a picture", async () => {
    const { page, errors } = await browser.openWidget(encoder(1).bytes(), 0, true);
    expect(await page.getByRole("alert").textContent()).toContain(
      "--ClearMetadataPreprocessor.enabled=True",
    );
    expect(errors).toEqual([]);
  });

  test("a page scrolled past it goes on scrolling; once pointed at, the wheel zooms", async () => {
    const { page } = await browser.openWidget(chain(30).bytes(), 900);
    const cameraOf = (): Promise<string | null> => page.getAttribute("canvas", "data-camera");
    await page.waitForSelector("[data-op='0'][data-centre]", { state: "attached" });
    const before = await cameraOf();
    await page.mouse.move(300, 350);
    const scroll = async (least: number): Promise<void> => {
      await page.mouse.wheel(0, 400);
      await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThanOrEqual(least);
    };
    await scroll(400);
    await scroll(800);
    const canvas = (await page.locator("canvas").boundingBox())!;
    expect(canvas.y).toBeLessThan(350);
    await scroll(1000);
    expect(await cameraOf()).toBe(before);
    await page.evaluate(() => scrollTo(0, 800));
    await page.mouse.move(310, 360);
    await page.mouse.wheel(0, -200);
    await expect.poll(cameraOf).not.toBe(before);
    expect(await page.evaluate(() => scrollY)).toBe(800);
  });
});

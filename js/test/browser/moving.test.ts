import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SyntheticTrace } from "../records/synthetic.ts";
import { encoder } from "../records/synthetic_nets.ts";
import { BrowserOfTests, clickInPicture, hasBrowser, placeOf, selected } from "./page.ts";

async function scaleOf(page: Page): Promise<number> {
  return Number((await page.getAttribute("canvas", "data-camera"))!.split(" ")[2]);
}

/** Colour of the canvas, as drawn, at a place in CSS px: [red, green, blue]. */
async function pixel(page: Page, x: number, y: number): Promise<number[]> {
  return page.evaluate(
    ([px, py]) => {
      const canvas = document.querySelector("canvas")!;
      const pixels = canvas.width / canvas.clientWidth;
      const { data } = canvas.getContext("2d")!.getImageData(px! * pixels, py! * pixels, 1, 1);
      return [...data.subarray(0, 3)];
    },
    [x, y],
  );
}

/** One op read by so many that its picture is crowded at any zoom at which words can be read. */
function crowd(): SyntheticTrace {
  const made = new SyntheticTrace();
  const hub = made.op("full");
  for (let i = 0; i < 2400; i++) {
    made.op(["relu", "scale", "tanh"][i % 3]!, { inputs: [hub.out[0]!] });
  }
  return made;
}

/** The pixels of a part of the picture as the screen shows it, in CSS px of the canvas. */
async function part(page: Page, x: number, y: number, size: number): Promise<number[]> {
  const at = (await page.locator("canvas").first().boundingBox())!;
  const shot = await page.screenshot({
    clip: { x: at.x + x, y: at.y + y, width: size, height: size },
  });
  return page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d")!;
    context.drawImage(image, 0, 0);
    return Array.from(context.getImageData(0, 0, image.width, image.height).data);
  }, shot.toString("base64"));
}

/** Mean difference of two parts, of 255. Lines that are drawn along with others differ by a shade. */
function difference(a: number[], b: number[]): number {
  return a.reduce((sum, value, i) => sum + Math.abs(value - b[i]!), 0) / a.length;
}

/** Somewhere on a box near a place of the page, as the tooltip tells. */
async function boxNear(page: Page, x: number, y: number): Promise<{ x: number; y: number }> {
  for (let step = 0; step < 40; step++) {
    const place = { x: x + 30 * (step % 4), y: y + 3 * step };
    await page.mouse.move(place.x, place.y);
    await page.waitForTimeout(400);
    const tooltip = page.locator(".pdl-tooltip:visible");
    if (/^(relu|scale|tanh)/.test((await tooltip.count()) ? await tooltip.innerText() : "")) {
      return place;
    }
  }
  throw new Error("no box is near");
}

/** Wait until two frames have been drawn. */
async function drawn(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

/** Zoom into a crowd until its boxes can be told apart. */
async function zoomIn(page: Page): Promise<void> {
  await page.locator("canvas").focus();
  await page.keyboard.press("f");
  await page.mouse.move(500, 400);
  for (let turn = 0; turn < 12 && (await scaleOf(page)) < 0.48; turn++) {
    await page.mouse.wheel(0, -120);
    await drawn(page);
  }
}

describe.skipIf(!hasBrowser)("moving about in the picture", { timeout: 30_000 }, () => {
  const browser = new BrowserOfTests();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test("the wheel zooms around the pointer, a drag moves, f shows all again", async () => {
    const { page } = await browser.open(encoder(1).bytes());
    const before = await placeOf(page, "[data-op='2']");
    const scale = await scaleOf(page);
    await page.mouse.move(before.x, before.y);
    await page.mouse.wheel(0, -300);
    await expect.poll(() => scaleOf(page)).toBeGreaterThan(scale * 1.2);
    const zoomed = await placeOf(page, "[data-op='2']");
    expect(Math.hypot(zoomed.x - before.x, zoomed.y - before.y)).toBeLessThan(1);
    const empty = { x: 40, y: 700 };
    await page.mouse.move(empty.x, empty.y);
    await page.mouse.down();
    await page.mouse.move(empty.x + 60, empty.y - 80, { steps: 4 });
    await page.mouse.up();
    const moved = await placeOf(page, "[data-op='2']");
    expect([Math.round(moved.x - zoomed.x), Math.round(moved.y - zoomed.y)]).toEqual([60, -80]);
    expect(await selected(page)).toBe("");
    await page.locator("canvas").focus();
    await page.keyboard.press("f");
    await expect.poll(() => scaleOf(page)).toBeLessThanOrEqual(1);
  });

  test("a crowded picture on the move is what it is at rest", { timeout: 90_000 }, async () => {
    const { page, errors } = await browser.open(crowd().bytes());
    await zoomIn(page);
    await expect
      .poll(async () => Number(await page.getAttribute("canvas", "data-in-view")))
      .toBeGreaterThan(260);
    await drawn(page);
    const before = await part(page, 300, 300, 90);
    await page.mouse.move(600, 500);
    await page.mouse.down();
    await page.mouse.move(650, 490);
    await page.mouse.move(700, 480);
    await drawn(page);
    expect(difference(await part(page, 400, 280, 90), before)).toBeLessThan(1);
    const came = await part(page, 4, 300, 90);
    expect(new Set(came).size).toBeGreaterThan(20);
    expect(difference(before, came)).toBeGreaterThan(5);
    expect(errors).toEqual([]);
  });

  test("the box under the pointer keeps its outline while a crowded picture is dragged", {
    timeout: 90_000,
  }, async () => {
    const { page } = await browser.open(crowd().bytes());
    await zoomIn(page);
    const canvas = (await page.locator("canvas").first().boundingBox())!;
    const place = await boxNear(page, 400, 300);
    // The screenshots show the page. A slow machine takes one when the tooltip is there already.
    await page.addStyleTag({ content: ".pdl-tooltip { visibility: hidden }" });
    await page.mouse.move(4, 4);
    await drawn(page);
    const around = (dx: number, dy: number): Promise<number[]> =>
      part(page, place.x - canvas.x - 32 + dx, place.y - canvas.y - 32 + dy, 64);
    const plain = await around(0, 0);
    await page.mouse.move(place.x, place.y);
    await drawn(page);
    const outlined = await around(0, 0);
    expect(difference(outlined, plain)).toBeGreaterThan(0.2);
    await page.mouse.down();
    await page.mouse.move(place.x + 50, place.y - 10);
    await page.mouse.move(place.x + 100, place.y - 20);
    await drawn(page);
    expect(difference(await around(100, -20), outlined)).toBeLessThan(0.1);
    expect(difference(await around(100, -20), plain)).toBeGreaterThan(0.2);
  });

  test("what is said of the box under the pointer goes when the picture is moved", async () => {
    const { page } = await browser.open(encoder(1).bytes());
    const tooltip = page.locator(".pdl-tooltip");
    const place = await placeOf(page, "[data-op='2']");
    for (const move of [
      () => page.mouse.move(place.x + 30, place.y + 20, { steps: 3 }),
      () => page.mouse.wheel(0, -40),
    ]) {
      const { x, y } = await placeOf(page, "[data-op='2']");
      await page.mouse.move(x - 2, y);
      await page.mouse.move(x, y);
      await expect.poll(() => tooltip.isVisible()).toBe(true);
      await page.mouse.down();
      await move();
      expect(await tooltip.isVisible()).toBe(false);
      await page.mouse.up();
    }
  });

  test("arrows follow the edges, brackets the order in which ops ran", async () => {
    const { page } = await browser.open(encoder(1).bytes());
    await clickInPicture(page, "[data-op='1']");
    await page.keyboard.press("ArrowDown");
    expect(await selected(page)).toBe("op 2");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    expect(await selected(page)).toBe("op 0");
    await page.keyboard.press("]");
    expect(await selected(page)).toBe("op 1");
    await page.keyboard.press("[");
    expect(await selected(page)).toBe("op 0");
    await page.keyboard.press("Escape");
    expect(await selected(page)).toBe("");
  });

  test("the outline is walked with arrows, opened with Enter, and found by its letters", async () => {
    const { page } = await browser.open(encoder(3).bytes());
    await page.locator("[role=treeitem][tabindex='0']").focus();
    await page.keyboard.press("Home");
    expect(await selected(page)).toBe("group 0");
    await page.keyboard.press("ArrowRight");
    expect(await selected(page)).toBe("op 0");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("treeitem", { name: /^layer blocks/ }).count()).toBe(3);
    await page.keyboard.press("m");
    expect(
      await page.locator("[role=treeitem][aria-selected='true']").getAttribute("aria-label"),
    ).toContain("mean");
    // The focus has gone along.
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-selected"))).toBe(
      "true",
    );
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => page.locator("[role=treeitem][data-op='0']").count()).toBe(0);
  });

  test("Escape leaves the search for where the keys went before", async () => {
    const { page } = await browser.open(encoder(1).bytes());
    await page.waitForSelector("[role=treeitem][data-op='2']", { state: "attached" });
    await page.locator("[role=treeitem][data-op='2']").focus();
    await page.keyboard.press("/");
    await page.keyboard.press("g");
    for (let press = 0; press < 3; press++) {
      await page.keyboard.press("Escape");
    }
    expect(
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.op),
    ).toBe("2");
  });

  test("keys typed into the search stay there", async () => {
    const { page } = await browser.open(encoder(1).bytes());
    await page.locator("canvas").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("f2p");
    expect(await page.inputValue(".pdl-search input")).toBe("f2p");
    expect(await page.getByRole("button", { name: "Forward" }).getAttribute("aria-pressed")).toBe(
      "true",
    );
  });

  test("the panel is beside the picture, and below it where there is no room", async () => {
    const { page } = await browser.open(encoder(1).bytes());
    const places = async (): Promise<number[]> => {
      const [canvas, panel] = [
        (await page.locator(".pdl-canvas").boundingBox())!,
        (await page.locator(".pdl-panel").boundingBox())!,
      ];
      return [panel.x - (canvas.x + canvas.width), panel.y - (canvas.y + canvas.height)];
    };
    expect((await places())[0]).toBeGreaterThanOrEqual(0);
    await page.setViewportSize({ width: 480, height: 800 });
    await expect.poll(async () => (await places())[1]).toBeGreaterThanOrEqual(0);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
  });

  test("dark and light are followed while the page is open", async () => {
    const { page } = await browser.open(encoder(1).bytes(), { colorScheme: "light" });
    expect(Math.min(...(await pixel(page, 5, 5)))).toBeGreaterThan(200);
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(async () => Math.max(...(await pixel(page, 5, 5)))).toBeLessThan(60);
  });

  test("a screen with more pixels gets a sharper canvas", async () => {
    const { page } = await browser.open(encoder(1).bytes(), { deviceScaleFactor: 2 });
    const ratio = await page.evaluate(() => {
      const canvas = document.querySelector("canvas")!;
      return canvas.width / canvas.clientWidth;
    });
    expect(ratio).toBe(2);
  });
});

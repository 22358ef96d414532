/// <reference types="node" />
/** A saved page is read while it arrives, and shows what it would if it were read at its end. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryWriter, randomNumbers } from "../records/made_memory.ts";
import { encoder } from "../records/synthetic_nets.ts";
import { BrowserOfTests, hasBrowser } from "./page.ts";

/** Of many pieces, which a worker takes, the page is made of so many bytes each. */
const PIECE_BYTES = 60;

function piecesOf(payload: Uint8Array, size = PIECE_BYTES): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < payload.length; at += size) {
    pieces.push(Buffer.from(payload.subarray(at, at + size)).toString("base64"));
  }
  return pieces;
}

/** So many that a worker reads them. */
function manyBlocks(): Uint8Array {
  const trace = encoder(20);
  const writer = new MemoryWriter(trace);
  const random = randomNumbers(5);
  for (let row = 0; row < 50_000; row++) {
    const end_ns = row * 100 + Math.ceil(1e6 * random() ** 4);
    writer.block(row * 100, random() < 0.1 ? -1 : end_ns, Math.ceil(1e6 * random()), {
      op: row % 40,
    });
  }
  return trace.bytes();
}

async function aliveRows(page: Page): Promise<string> {
  await page.waitForSelector("#pdl-root[data-state=ready]");
  await page.locator(".pdl-canvas > canvas").first().focus();
  await page.keyboard.press("4");
  const rows = page.locator(".pdl-alive tbody tr");
  await expect.poll(() => rows.count()).toBe(40);
  // A page of this test carries none, and says so once it has looked for it.
  await page.getByText("The charts are drawn with BokehJS").waitFor();
  return page.locator(".pdl-memory").innerText();
}

async function outline(page: Page): Promise<string[]> {
  await page.waitForSelector("#pdl-root[data-state=ready]");
  return page.locator("[role=treeitem]").evaluateAll((all) => all.map((row) => row.outerHTML));
}

describe.skipIf(!hasBrowser)("a page that arrives", { timeout: 60_000 }, () => {
  const browser = new BrowserOfTests();
  const payload = encoder(60).bytes();
  const pieces = piecesOf(payload);
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test("is read by a worker where it is large, and shows the same", async () => {
    expect(pieces.length).toBeGreaterThan(64);
    const whole = await outline((await browser.open(payload)).page);
    const { page, errors } = await browser.open(pieces);
    expect(await outline(page)).toEqual(whole);
    // The worker has nothing more to do; that of the layout stays.
    await expect.poll(() => page.workers().length).toBe(1);
    const few = await browser.open(piecesOf(encoder(1).bytes().subarray()).slice(0, 1));
    expect(await few.page.textContent(".pdl-error")).toContain("cut short or altered");
    expect(errors).toEqual([]);
  });

  test("shows the same of its allocations, and leaves no worker that read them", async () => {
    const blocks = manyBlocks();
    const whole = await aliveRows((await browser.open(blocks)).page);
    expect(whole).toContain("alive at");
    const { page, errors } = await browser.open(piecesOf(blocks, 6000));
    expect(await aliveRows(page)).toBe(whole);
    await expect.poll(() => page.workers().length).toBe(1);
    expect(errors).toEqual([]);
  });

  test("is read without workers where its policy forbids them", async () => {
    const policy = "worker-src 'none'; script-src 'unsafe-inline' blob:";
    const { page, errors } = await browser.open(pieces, { policy });
    expect((await outline(page)).length).toBeGreaterThan(1);
    expect(errors).toEqual([]);
  });

  test.each([
    ["cut short", pieces.slice(0, -20)],
    ["without one of its pieces", pieces.toSpliced(40, 1)],
    ["altered", pieces.with(50, Buffer.alloc(PIECE_BYTES, 7).toString("base64"))],
    ["with a piece that is no base64", pieces.with(50, "<b>&amp;</b>")],
    ["with a first piece of something else", pieces.with(0, "AAAA")],
  ])("says so where it is %s", async (_, broken) => {
    const { page, errors } = await browser.open(broken);
    await page.waitForSelector("#pdl-root[data-state=failed]");
    expect(await page.textContent(".pdl-error")).toMatch(/cut short or altered|not a paddle_lab/);
    expect(errors).toEqual([]);
  });
});

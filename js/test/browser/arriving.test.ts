/// <reference types="node" />
/** A saved page carries its payload in pieces, and is read once all of them have arrived. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoder } from "../records/synthetic_nets.ts";
import { BrowserOfTests, hasBrowser } from "./page.ts";

/** Bytes of a piece. */
const PIECE_BYTES = 60;

function piecesOf(payload: Uint8Array, size = PIECE_BYTES): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < payload.length; at += size) {
    pieces.push(Buffer.from(payload.subarray(at, at + size)).toString("base64"));
  }
  return pieces;
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

  test("shows what it would in one piece", async () => {
    expect(pieces.length).toBeGreaterThan(64);
    const whole = await outline((await browser.open(payload)).page);
    const { page, errors } = await browser.open(pieces);
    expect(await outline(page)).toEqual(whole);
    const few = await browser.open(piecesOf(encoder(1).bytes().subarray()).slice(0, 1));
    expect(await few.page.textContent(".pdl-error")).toContain("cut short or altered");
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

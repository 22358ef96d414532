import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoder } from "../records/synthetic_nets.ts";
import { BrowserOfTests, type HostedWindow, hasBrowser } from "./page.ts";

async function choose(page: Page, menu: string, entry: string): Promise<void> {
  await page.getByRole("button", { name: menu, exact: true }).click();
  await page.getByRole("menuitem", { name: entry }).click();
}

async function saved(page: Page, entry: string): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    choose(page, "Export", entry),
  ]);
  return {
    name: download.suggestedFilename(),
    text: readFileSync((await download.path())!, "utf-8"),
  };
}

describe.skipIf(!hasBrowser)("the export menu in a browser", { timeout: 30_000 }, () => {
  const browser = new BrowserOfTests();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test("a page saves no page of itself", async () => {
    const { page } = await browser.open(encoder(1).bytes());
    await page.getByRole("button", { name: "Export", exact: true }).click();
    expect(await page.getByRole("menuitem").allTextContents()).not.toContain("Save as HTML");
  });

  test("the kernel makes the page", async () => {
    const { page, errors } = await browser.openWidget(encoder(1).bytes());
    await page.evaluate(() => {
      const { model } = window as unknown as HostedWindow;
      model.send = ({ id }) => {
        model.tell({ kind: "page_begun", id });
        // Of another view, which asked for its own.
        model.tell({ kind: "page", id: "other", error: "not ours" });
        model.tell({ kind: "page", id }, [new DataView(new TextEncoder().encode("<p>é").buffer)]);
      };
    });
    expect(await saved(page, "Save as HTML")).toEqual({ name: "cell-4.html", text: "<p>é" });
    expect(errors).toEqual([]);
  });

  test("the ops are saved as a table", async () => {
    const { page, errors } = await browser.open(encoder(1).bytes());
    const { text } = await saved(page, "Save the ops (CSV)");
    const count = (await page.textContent(".pdl-summary"))!.split(" ")[0];
    expect(String(text.trimEnd().split("\n").length - 1)).toBe(count);
    expect(errors).toEqual([]);
  });

  test("what went wrong in the kernel is told", async () => {
    const { page } = await browser.openWidget(encoder(1).bytes());
    await page.evaluate(() => {
      const { model } = window as unknown as HostedWindow;
      model.send = ({ id }) => model.tell({ kind: "page", id, error: "OSError: no front end" });
    });
    await choose(page, "Export", "Save as HTML");
    const said = page.locator(".pdl-said");
    await expect.poll(() => said.textContent()).toBe("Save as HTML: OSError: no front end");
    await said.click();
    expect(await said.count()).toBe(0);
  });

  test("without a kernel it says what to do instead", async () => {
    const { page, errors } = await browser.openWidget(encoder(1).bytes());
    await choose(page, "Export", "Save as HTML");
    const said = page.locator(".pdl-said");
    await expect.poll(() => said.textContent(), { timeout: 15_000 }).toContain("trace.to_html");
    expect(errors).toEqual([]);
  });
});

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cutAndFailed, plant, SENTENCE, troubled, withGradients } from "../records/planted.ts";
import { encoder } from "../records/synthetic_nets.ts";
import { BrowserOfTests, hasBrowser, placeOf, selected } from "./page.ts";

describe.skipIf(!hasBrowser)("findings in a browser", { timeout: 60_000 }, () => {
  const browser = new BrowserOfTests();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test("one sentence names the worst finding, and leads to its op", async () => {
    const { page, errors } = await browser.open(troubled().bytes());
    const bar = page.getByRole("region", { name: "Findings" });
    expect(await bar.locator(".pdl-finding").count()).toBe(1);
    expect(await bar.textContent()).toContain("made the first NaN");
    expect(await bar.locator("code").first().textContent()).toBe("y = net(x)");
    await bar.getByRole("button", { name: "Show in graph" }).click();
    expect(await selected(page)).toBe("op 2");
    await page.waitForSelector("[data-op='2'][data-centre]", { state: "attached" });
    const row = page.locator("[role=treeitem][data-op='2']");
    expect(await row.getAttribute("aria-label")).toContain("✕ Error, begins here");
    expect(await page.textContent(".pdl-finding-note")).toContain("made the first NaN");
    expect(errors).toEqual([]);
  });

  test("the list opens, steps with the arrows, and makes another finding the one in view", async () => {
    const { page } = await browser.open(troubled().bytes());
    const bar = page.getByRole("region", { name: "Findings" });
    await bar.getByRole("button", { name: "2 more" }).click();
    expect(await bar.getByRole("listitem").count()).toBe(3);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await bar.locator(".pdl-finding").getAttribute("data-kind")).toBe("broadcast-surprise");
    expect(await selected(page)).toBe("op 14");
    await bar.getByRole("button", { name: "Fewer" }).click();
    expect(await bar.getByRole("listitem").count()).toBe(0);
  });

  test("folded away it stays so from graph to graph, and e brings it back", async () => {
    const { page } = await browser.open(troubled().bytes());
    const bar = page.getByRole("region", { name: "Findings" });
    await bar.getByRole("button", { name: "Fold the findings away" }).click();
    expect(await bar.locator(".pdl-finding").count()).toBe(0);
    await page.keyboard.press("3");
    expect(await bar.textContent()).toContain("1 error");
    expect(await bar.locator(".pdl-finding").count()).toBe(0);
    await page.keyboard.press("e");
    expect(await bar.locator(".pdl-finding").count()).toBe(1);
    expect(await selected(page)).toBe("op 2");
    await page.keyboard.press("e");
    expect(await selected(page)).toBe("op 14");
    await page.keyboard.press("Shift+E");
    expect(await selected(page)).toBe("op 2");
  });

  test("the sentence's places ask the page for their lines, and else show them in the panel", async () => {
    const { page } = await browser.open(troubled().bytes());
    await page.evaluate(() => {
      const asked: unknown[] = [];
      Object.assign(window, { asked });
      document.addEventListener("paddle-lab:open-source", (event) => {
        asked.push((event as CustomEvent).detail);
      });
    });
    await page.locator(".pdl-finding").getByRole("button", { name: "cell 4, line 2" }).click();
    const asked = await page.evaluate(() => (window as unknown as { asked: unknown[] }).asked);
    expect(asked).toMatchObject([{ file: "/tmp/ipykernel_1/4.py", line: 2, cell: 4 }]);
    expect((asked[0] as { source_text: string }).source_text).toContain("loss.backward()");
    await expect
      .poll(() => page.locator(".pdl-source-whole .pdl-lit").textContent())
      .toContain("y = net(x)");
  });

  test("a sentence in Chinese names places that lead to their lines too", async () => {
    const made = troubled();
    plant(made, {
      severity: "error",
      message: "`loss = y.mean()`(单元格 4 第 3 行)把形状 [16, 1] 与 [16] 广播成了 [16, 16]。",
      line: 3,
    });
    const { page } = await browser.open(made.bytes());
    await page.getByRole("button", { name: "3 more" }).click();
    const item = page.getByRole("listitem").nth(3);
    expect(await item.getByRole("button").allTextContents()).toEqual(["单元格 4 第 3 行", "Read"]);
    await item.getByRole("button", { name: "单元格 4 第 3 行", exact: true }).click();
    await expect
      .poll(() => page.locator(".pdl-source-whole .pdl-lit").textContent())
      .toContain("loss = y");
  });

  test("no findings, no box", async () => {
    const { page } = await browser.open(encoder(1).bytes());
    expect(await page.getByRole("region", { name: "Findings" }).count()).toBe(0);
    expect(await page.locator(".pdl-findings").isVisible()).toBe(false);
  });

  test("a foreign finding's texts are text, and thirty long ones leave room for the graph", async () => {
    const made = encoder(1);
    const hostile = `\`<img src=x onerror="window.ran=1">\` <script>window.ran=2</script> ${"损失为空值 ".repeat(80)}`;
    for (let i = 0; i < 30; i++) plant(made, { message: hostile, advice: hostile, op: 1 });
    const { page, errors } = await browser.open(made.bytes());
    await page.getByRole("button", { name: "29 more" }).click();
    expect(await page.evaluate(() => "ran" in window)).toBe(false);
    expect(await page.locator(".pdl-findings img, .pdl-findings script").count()).toBe(0);
    const graph = (await page.locator(".pdl-canvas").boundingBox())!;
    expect(graph.height).toBeGreaterThan(200);
    const bar = await page
      .locator(".pdl-findings")
      .evaluate((el) => el.scrollWidth - el.clientWidth);
    expect(bar).toBe(0);
    expect(errors).toEqual([]);
  });

  test("the ladder's right side ends at a cut, and an error already told is not shouted again", async () => {
    const { page } = await browser.open(cutAndFailed().bytes());
    expect(await page.locator(".pdl-banner .pdl-warn").count()).toBe(0);
    expect(await page.textContent(".pdl-banner")).toContain("PreconditionNotMet");
    await page.getByRole("button", { name: "Ladder" }).click();
    await page.waitForSelector("[data-grad-node][data-centre]", { state: "attached" });
    const failed = page.locator("[role=treeitem][data-grad-node='11']");
    expect(await failed.getAttribute("aria-label")).toContain("Error, failed here");
    // Beside the cut op stands an empty place: a click there selects the op.
    const [op, node] = [
      await placeOf(page, "[data-op='4']"),
      await placeOf(page, "[data-grad-node='14']"),
    ];
    await page.mouse.click(node.x, op.y);
    expect(await selected(page)).toBe("op 4");
  });

  test("a click on an edge of the ladder shows its gradient", async () => {
    const { page, errors } = await browser.open(withGradients(encoder(1), 0.5).bytes());
    await page.getByRole("button", { name: "Ladder" }).click();
    await page.waitForSelector("[data-grad-node='14'][data-centre]", { state: "attached" });
    const [from, to] = [
      await placeOf(page, "[data-grad-node='14']"),
      await placeOf(page, "[data-grad-node='11']"),
    ];
    await page.mouse.click((from.x + to.x) / 2, (from.y + to.y) / 2);
    const panel = page.locator(".pdl-details-page");
    await expect.poll(() => panel.locator("h2").textContent()).toContain("Gradient");
    expect(await panel.textContent()).toContain("norm0.5");
    expect(await panel.locator(".pdl-bar").count()).toBe(13);
    await panel.getByText("As a table").click();
    expect(await panel.locator("tbody tr").count()).toBe(13);
    expect(await page.textContent(".pdl-status")).toContain("MeanGrad → LinearGrad");
    expect(errors).toEqual([]);
  });

  test("the curve over depth is read with the arrows and selects a layer", async () => {
    const { page } = await browser.open(withGradients(encoder(2), 0.1).bytes());
    await page.getByRole("tab", { name: "Details" }).click();
    const curve = page.getByRole("slider", { name: /Gradients over depth/ });
    await curve.focus();
    expect(await curve.getAttribute("aria-valuetext")).toContain("embed");
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    expect(await curve.getAttribute("aria-valuetext")).toContain("head");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.textContent(".pdl-details-page h2")).toContain("head");
  });

  test("norms are drawn where they are asked for, with what widths mean", async () => {
    const { page } = await browser.open(withGradients(encoder(1), 0.5).bytes());
    expect(await page.locator(".pdl-norm-legend").isVisible()).toBe(false);
    await page.getByRole("button", { name: "Backward", exact: true }).click();
    expect(await page.locator(".pdl-norm-legend").isVisible()).toBe(true);
    await page.getByRole("button", { name: "View" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Gradient norms on edges" }).click();
    expect(await page.locator(".pdl-norm-legend").isVisible()).toBe(false);
  });

  test("the exported picture says what findings say", async () => {
    const { page } = await browser.open(cutAndFailed().bytes());
    await page.getByRole("button", { name: "Ladder" }).click();
    await page.waitForSelector("[data-grad-node][data-centre]", { state: "attached" });
    const svg = await exportedSvg(page);
    for (const word of [">failed<", ">cut<", ">origin<", ">no gradient<", "‖0.01‖"]) {
      expect(svg).toContain(word);
    }
  });

  test("a way is drawn from its origin, for the finding in view alone", async () => {
    const made = troubled();
    plant(made, { marks: [6, 7].map((op) => ({ role: "path" as const, op })) });
    const { page } = await browser.open(made.bytes());
    await page.getByRole("button", { name: "Open all" }).click();
    await page.waitForSelector("[data-op='8'][data-centre]", { state: "attached" });
    const ways = async (): Promise<number> =>
      (await exportedSvg(page))
        .match(/<path d="[^"]*" fill="none"[^>]*stroke-width="3.2"/g)
        ?.join("")
        .match(/M/g)?.length ?? 0;
    // Ops 2 to 8 have six edges between them, and op 4 hands on to 8 directly.
    expect(await ways()).toBe(7);
    await page.getByRole("button", { name: "3 more" }).click();
    await page.locator(".pdl-finding-show").nth(3).click();
    expect(await ways()).toBe(1);
  });

  test("what is copied has the sentence, its place and what to do", async () => {
    const made = encoder(1);
    plant(made, {});
    const { page } = await browser.open(made.bytes(), {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.locator(".pdl-finding").getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(text).toBe(
      `Warning [broadcast-surprise]: ${SENTENCE}\nAt: Cell 4, line 3\n` +
        "What to do: Give both sides one shape: `net(x).squeeze(-1)`.",
    );
  });
});

async function exportedSvg(page: Page): Promise<string> {
  await page.getByRole("button", { name: /^(Export|Done)$/ }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "Save as SVG" }).click(),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

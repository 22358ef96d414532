import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SyntheticTrace } from "../records/synthetic.ts";
import { chain, encoder } from "../records/synthetic_nets.ts";
import { BrowserOfTests, clickInPicture, hasBrowser, lit, placeOf, selected } from "./page.ts";

describe.skipIf(!hasBrowser)("the graph in a browser", { timeout: 30_000 }, () => {
  const browser = new BrowserOfTests();
  beforeAll(() => browser.start(), 60_000);
  afterAll(() => browser.stop());

  test("a click on a box selects its op, and the panel tells about it", async () => {
    const { page, errors } = await browser.open(encoder(1).bytes());
    await clickInPicture(page, "[data-op='2']");
    expect(await selected(page)).toBe("op 2");
    await expect.poll(() => page.textContent(".pdl-panel")).toContain("gelu");
    expect(await page.textContent(".pdl-status")).toContain("gelu #2");
    // A click beside all boxes lets go of it.
    await page.mouse.click(20, 700);
    expect(await selected(page)).toBe("");
    expect(errors).toEqual([]);
  });

  test("the panel tells of an iteration: what is around it, and the line of its loop", async () => {
    const made = new SyntheticTrace();
    const parent = made.group("epoch 1", { kind: "turn", className: "" });
    for (const step of [1, 2]) {
      const group = made.group(`step ${step}`, { kind: "turn", className: "", parent });
      for (const name of ["relu", step > 1 ? "exp" : "sin"]) made.op(name, { group });
      made.add("turns", { scope: made.tables.groups.scope![group]!, loop: 0, number: step });
    }
    made.add("loops", { file: made.text("train.py"), line: 3, cell: -1, words: made.text("step") });
    const { page } = await browser.open(made.bytes());
    await clickInPicture(page, "[data-group='1']");
    const chips = page.locator(".pdl-panel .pdl-chips:not(.pdl-isolate-row) > .pdl-chip");
    await expect.poll(() => chips.allTextContents()).toEqual(["iteration of a loop", "epoch 1"]);
    const line = page.locator(".pdl-facts dd").filter({ hasText: "train.py" });
    const [place, link] = [await line.boundingBox(), await line.getByRole("button").boundingBox()];
    expect(link!.x).toBe(place!.x);
  });

  test("the line below the picture counts what its boxes stand for", async () => {
    const trace = new SyntheticTrace();
    trace.op("relu");
    trace.op("tanh");
    trace.op("adamw_", { phase: "optimizer" });
    const { page, errors } = await browser.open(trace.bytes());
    const status = () => page.textContent(".pdl-status");
    await expect.poll(status).toContain("2 boxes for 2 of 3 ops");
    await page.click(".pdl-app >> text=Backward");
    await expect.poll(status).not.toContain("ops");
    expect(errors).toEqual([]);
  });

  test("a tensor that a PyLayer hands back as it was made is not told as modified", async () => {
    const trace = new SyntheticTrace();
    const inner = trace.op("tanh");
    const outer = trace.op("Recompute", { isPylayer: true });
    trace.tables.tensors.previous![outer.out[0]!] = inner.out[0]!;
    const relu = trace.op("relu_", { inputs: outer.out });
    trace.tables.tensors.previous![relu.out[0]!] = outer.out[0]!;
    const { page, errors } = await browser.open(trace.bytes());
    await clickInPicture(page, `[data-op='${relu.op}']`);
    await expect.poll(() => page.textContent(".pdl-panel")).toContain("modified in place");
    await clickInPicture(page, `[data-op='${outer.op}']`);
    await expect.poll(() => page.textContent(".pdl-panel")).toContain("PyLayer");
    expect(await page.textContent(".pdl-panel")).not.toContain("modified in place");
    await clickInPicture(page, `[data-op='${inner.op}']`);
    await expect.poll(() => selected(page)).toBe(`op ${inner.op}`);
    expect(await page.textContent(".pdl-panel")).not.toContain("modified in place");
    expect(errors).toEqual([]);
  });

  test("a double click opens a group where it stands, another on its title closes it", async () => {
    const { page } = await browser.open(encoder(1).bytes());
    await page.getByRole("button", { name: "Close all", exact: true }).click();
    await expect.poll(() => page.locator("[role=treeitem][data-op='2']").count()).toBe(0);
    const at = await placeOf(page, "[data-group='0']");
    await page.mouse.dblclick(at.x, at.y);
    await page.waitForSelector("[role=treeitem][data-op='0'][data-centre]", { state: "attached" });
    expect(await page.getAttribute("[data-group='0']", "aria-expanded")).toBe("true");
    const title = await placeOf(page, "[data-group='0']");
    // The box's top edge has become the frame's: it has not moved on screen.
    expect(Math.abs(title.y - at.y)).toBeLessThan(24);
    await page.mouse.dblclick(title.x, title.y);
    await expect.poll(() => page.locator("[role=treeitem][data-op='0']").count()).toBe(0);
    await page.keyboard.press("Control+z");
    await expect.poll(() => page.locator("[role=treeitem][data-op='0']").count()).toBe(1);
  });

  test("a fold opens into its members, and folds again", async () => {
    const { page } = await browser.open(encoder(4).bytes());
    const fold = page.getByRole("treeitem", { name: /4 repeated groups/ });
    expect(await fold.count()).toBe(1);
    const at = await placeOf(page, "[data-group='2']");
    await page.mouse.dblclick(at.x, at.y);
    const members = page.getByRole("treeitem", { name: /^layer blocks\.\d/ });
    await expect.poll(() => members.count()).toBe(4);
    await page.getByRole("button", { name: "View" }).click();
    await page.getByRole("menuitem", { name: "Fold repeats" }).click();
    await expect.poll(() => fold.count()).toBe(1);
  });

  test("in the ladder an op and its grad node light each other up", async () => {
    const { page } = await browser.open(encoder(1).bytes());
    await page.getByRole("button", { name: "Ladder" }).click();
    await page.waitForSelector("[data-grad-node][data-centre]", { state: "attached" });
    const pairs: string[] = await page
      .locator("[role=treeitem][data-op='2'] + [data-grad-node]")
      .evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset.gradNode!));
    const [gradNode] = pairs;
    expect(await page.getAttribute(`[data-grad-node='${gradNode}']`, "aria-label")).toContain(
      "GeluGrad",
    );
    const [op, node] = [
      await placeOf(page, "[data-op='2']"),
      await placeOf(page, `[data-grad-node='${gradNode}']`),
    ];
    expect(node.y).toBeCloseTo(op.y, 0);
    expect(node.x).toBeGreaterThan(op.x);
    await clickInPicture(page, `[data-grad-node='${gradNode}']`);
    expect(await selected(page)).toBe(`gradNode ${gradNode}`);
    expect(await lit(page, "op")).toEqual([2]);
    await page.keyboard.press("p");
    expect(await selected(page)).toBe("op 2");
    expect(await lit(page, "gradNode")).toEqual([Number(gradNode)]);
  });

  test("what was called backward on is drawn from the loss down", async () => {
    const { page } = await browser.open(encoder(1).bytes());
    await page.locator("canvas").focus();
    await page.keyboard.press("2");
    await page.waitForSelector("[data-grad-node][data-centre]", { state: "attached" });
    const first = page.locator("[data-grad-node]").first();
    expect(await first.getAttribute("aria-label")).toContain("MeanGrad");
    const top = await placeOf(page, "[data-grad-node]");
    const last = await page.locator("[data-grad-node]").last().getAttribute("data-grad-node");
    expect((await placeOf(page, `[data-grad-node='${last}']`)).y).toBeGreaterThan(top.y);
  });

  test("names and lines of a foreign trace are text", async () => {
    const hostile = `<img src=x onerror="window.ran = 1">"><script>window.ran = 2</script>`;
    const made = new SyntheticTrace();
    made.origin.title = made.origin.exception = hostile;
    made.origin.notices = [hostile];
    const file = `/tmp/${hostile}.py`;
    made.add("sources", {
      file: made.text(file),
      first_line: 1,
      text: made.text(hostile),
      cell: 1,
    });
    const stack = made.stack(made.frame(file, 1, hostile));
    const group = made.group(hostile, { className: hostile });
    const weight = made.tensor(hostile, { kind: "parameter", path: hostile });
    const first = made.op(hostile, {
      group,
      stack,
      inputs: [weight],
      shape: hostile,
      gradName: hostile,
    });
    const second = made.op(hostile, { group, stack, inputs: first.out, shape: hostile });
    made.backward(second.gradNode, { error: hostile });
    const { page, errors } = await browser.open(made.bytes());
    for (const mode of ["Forward", "Backward", "Ladder"]) {
      await page.getByRole("button", { name: mode, exact: true }).click();
      await page.waitForSelector("[role=treeitem][data-centre]", { state: "attached" });
      for (const row of await page.locator("[role=treeitem]").all()) {
        await row.dispatchEvent("click");
        const place = await row.getAttribute("data-id");
        const { x, y } = await placeOf(page, `[data-id="${place}"]`);
        await page.mouse.move(x, y);
      }
    }
    await page.getByRole("tab", { name: "Source" }).click();
    await page.fill(".pdl-search input", "<img");
    await page.waitForTimeout(400);
    expect(await page.evaluate(() => (window as { ran?: number }).ran)).toBeUndefined();
    expect(await page.locator("#pdl-root img, #pdl-root script").count()).toBe(0);
    expect(await page.textContent(".pdl-title")).toBe(hostile);
    expect(errors).toEqual([]);
  });

  test("a chain of 20,000 ops is drawn, and answers a click", async () => {
    const { page, errors } = await browser.open(chain(20_000).bytes());
    await page.waitForSelector("[data-op='3'][data-centre]", { state: "attached" });
    await clickInPicture(page, "[data-op='3']");
    expect(await selected(page)).toBe("op 3");
    await page.locator("[role=treeitem][data-op='3']").focus();
    await page.keyboard.press("End");
    expect(await selected(page)).toBe("op 19999");
    const last = page.locator("[role=treeitem][data-op='19999']");
    expect(await last.getAttribute("aria-posinset")).toBe("20000");
    expect(await page.locator("[role=treeitem]").count()).toBeLessThan(2000);
    // It has been brought into view: a click hits it.
    await page.locator("canvas").focus();
    await page.keyboard.press("Escape");
    await clickInPicture(page, "[data-op='19999']");
    expect(await selected(page)).toBe("op 19999");
    expect(errors).toEqual([]);
  });

  test("where workers are forbidden the page lays out by itself", async () => {
    const policy = "worker-src 'none'; script-src 'unsafe-inline' blob:";
    const { page } = await browser.open(encoder(1).bytes(), { policy });
    await clickInPicture(page, "[data-op='2']");
    expect(await selected(page)).toBe("op 2");
  });

  test.each([
    ["a payload that is cut", Buffer.from(encoder(1).bytes()).toString("base64").slice(0, 400)],
    ["no base64 at all", "%%%"],
  ])("%s gives a readable box", async (_, payload) => {
    const { page } = await browser.open(payload);
    expect(await page.textContent(".pdl-error")).toMatch(/cut short or altered/);
  });

  test("a cell without Paddle ops, and one without a backward, say so", async () => {
    const { page } = await browser.open(new SyntheticTrace().bytes());
    expect(await page.textContent(".pdl-empty")).toContain("This cell ran no Paddle op.");
    const { page: other } = await browser.open(chain(3).bytes());
    await other.getByRole("button", { name: "Backward", exact: true }).click();
    await other.waitForSelector(".pdl-empty");
    expect(await other.textContent(".pdl-empty")).toContain("No backward graph");
    await other.getByRole("button", { name: "Show the forward graph" }).click();
    await expect.poll(() => other.locator(".pdl-empty").count()).toBe(0);
  });
});

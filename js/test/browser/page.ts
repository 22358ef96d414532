/// <reference types="node" />
/** Opens traces in a real Chromium, in a plain page as `trace.to_html()` writes it. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";
import { build } from "esbuild";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const CHROMIUM = process.env.CHROMIUM || "/usr/bin/chromium";
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Without a browser there is nothing to test in; `make test` provides one. */
export const hasBrowser = existsSync(CHROMIUM);
if (!hasBrowser) {
  console.warn(`No Chromium at ${CHROMIUM} (set CHROMIUM): tests in the browser are skipped.`);
}

const STATE = '<script type="application/vnd.jupyter.widget-state+json">{}</script>';

export interface Opened {
  readonly page: Page;
  /** Uncaught errors of the page. */
  readonly errors: string[];
}

export class BrowserOfTests {
  #folder = "";
  #browser: Browser | undefined;
  #script = "";
  #widget = "";
  #view = "";
  #style = "";

  async start(): Promise<void> {
    this.#folder = mkdtempSync(join(tmpdir(), "pdl-browser-"));
    const style = join(this.#folder, "style.css");
    await build({
      absWorkingDir: ROOT,
      entryPoints: ["src/views/styles/style.css"],
      outfile: style,
      bundle: true,
    });
    await build({
      absWorkingDir: ROOT,
      entryPoints: ["src/standalone.ts", "src/widget.ts"],
      outdir: this.#folder,
      bundle: true,
      minify: true,
      format: "esm",
      target: "es2022",
      logLevel: "warning",
    });
    await build({
      absWorkingDir: ROOT,
      entryPoints: ["src/widget_view.ts"],
      outdir: this.#folder,
      bundle: true,
      minify: true,
      format: "iife",
      globalName: "bundled",
      target: "es2022",
      logLevel: "warning",
      loader: { ".css": "text" },
      alias: { "built-widget.css": style },
    });
    this.#view = deflateSync(readFileSync(join(this.#folder, "widget_view.js"))).toString("base64");
    this.#script = readFileSync(join(this.#folder, "standalone.js"), "utf8");
    this.#widget = readFileSync(join(this.#folder, "widget.js"), "utf8");
    this.#style = readFileSync(style, "utf8");
    this.#browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    });
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /**
   * @param payload bytes, or base64 of them; in pieces as a saved page has them, behind its script
   * @param policy a Content-Security-Policy for the page
   * @param before runs in the page before its own scripts
   */
  async open(
    payload: Uint8Array | string | readonly string[],
    options: BrowserContextOptions & { policy?: string; before?: () => void } = {},
  ): Promise<Opened> {
    const { policy, before, ...contextOptions } = options;
    const context = await this.#browser!.newContext({
      viewport: { width: 1200, height: 800 },
      reducedMotion: "reduce",
      ...contextOptions,
    });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    if (before) await page.addInitScript(before);
    const address = join(this.#folder, `${Math.random().toString(36).slice(2)}.html`);
    writeFileSync(
      address,
      isPieces(payload) ? this.#htmlOfPieces(payload, policy) : this.#html(payload, policy),
    );
    await page.goto(pathToFileURL(address).href);
    await page.waitForSelector("#pdl-root[data-state]");
    return { page, errors };
  }

  /**
   * A page that holds the widget's module as its host does: as text, loaded from a blob, rendered
   * with an object of traits. `window.model` has what it was told and tells what is set.
   *
   * @param tall px of page above the widget
   * @param isConverted as nbconvert leaves a notebook that was saved in JupyterLab: with its widgets'
   *   state, but without the view's script
   */
  async openWidget(
    payload: Uint8Array | undefined,
    tall = 0,
    isConverted = false,
  ): Promise<Opened> {
    const context = await this.#browser!.newContext({ viewport: { width: 1000, height: 700 } });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.setContent(
      `<style>${this.#style}</style><div style="height:${tall}px"></div><div id="out"></div><div style="height:${tall}px"></div>${isConverted ? STATE : ""}`,
    );
    const bytes = payload && Array.from(payload);
    await page.addScriptTag({ path: join(ROOT, "test/browser/widget_host.js") });
    await page.evaluate((given) => (window as unknown as HostedWindow).hostWidget(given), {
      source: this.#widget,
      view: isConverted ? "" : this.#view,
      bytes,
    });
    await page.waitForSelector("#out :is(canvas, .pdl-empty, .pdl-error):visible");
    return { page, errors };
  }

  #html(payload: Uint8Array | string, policy: string | undefined): string {
    const data = typeof payload === "string" ? payload : Buffer.from(payload).toString("base64");
    return [
      this.#head(policy),
      `<script type="application/x-paddle-lab">${data}</script>`,
      `<script type="module">${this.#script.replaceAll("</script", "<\\/script")}</script>`,
    ].join("");
  }

  #htmlOfPieces(pieces: readonly string[], policy: string | undefined): string {
    return [
      this.#head(policy),
      `<script>{${this.#script.replaceAll("</script", "<\\/script")}}</script>`,
      ...pieces.map((piece) => `<script type="application/x-paddle-lab">${piece}</script>\n`),
    ].join("");
  }

  #head(policy: string | undefined): string {
    return [
      '<!doctype html><meta charset="utf-8">',
      policy ? `<meta http-equiv="Content-Security-Policy" content="${policy}">` : "",
      `<style>body { margin: 0 }${this.#style}</style><div id="pdl-root"></div>`,
    ].join("");
  }
}

function isPieces(payload: Uint8Array | string | readonly string[]): payload is readonly string[] {
  return Array.isArray(payload);
}

/** What `widget_host.js` leaves in the page. */
export interface HostedWindow {
  hostWidget(given: { source: string; view: string; bytes: number[] | undefined }): Promise<void>;
  model: {
    values: Record<string, unknown>;
    saved: number;
    set(name: string, value: unknown): void;
    /** What the widget says to the kernel. */
    send(content: { kind: string; id: string }): void;
    /** What the kernel says to the widget. */
    tell(content: object, buffers?: DataView[]): void;
  };
  cleanUp(): void;
}

/** Where the picture shows an outline row: as the page tells it. */
export async function placeOf(page: Page, row: string): Promise<{ x: number; y: number }> {
  const centre = await page.locator(`[role=treeitem]${row}`).first().getAttribute("data-centre");
  const canvas = page.locator(".pdl-canvas > canvas");
  const [x = 0, y = 0] = centre!.split(" ").map(Number);
  const [shiftX = 0, shiftY = 0, scale = 1] = (await canvas.getAttribute("data-camera"))!
    .split(" ")
    .map(Number);
  const bounds = (await canvas.boundingBox())!;
  return { x: bounds.x + shiftX + x * scale, y: bounds.y + shiftY + y * scale };
}

export async function clickInPicture(page: Page, row: string): Promise<void> {
  const { x, y } = await placeOf(page, row);
  await page.mouse.click(x, y);
}

/** What the outline marks as selected: "op 3", "group 0"; "" for nothing. */
export async function selected(page: Page): Promise<string> {
  return page.evaluate(() => {
    const row = document.querySelector<HTMLElement>('[role=treeitem][aria-selected="true"]');
    for (const [name, value] of Object.entries({ ...row?.dataset })) {
      if (["op", "gradNode", "group", "tensor"].includes(name)) {
        return `${name} ${value}`;
      }
    }
    return "";
  });
}

/** Keys of ops (or grad nodes) in the outline that are lit. */
export async function lit(page: Page, kind: "op" | "gradNode"): Promise<number[]> {
  return page.evaluate(
    (name) =>
      [...document.querySelectorAll<HTMLElement>("[role=treeitem][data-lit]")]
        .map((row) => row.dataset[name])
        .filter((key) => key !== undefined)
        .map(Number),
    kind,
  );
}

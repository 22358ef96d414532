/**
 * Loads BokehJS for the live chart, once per page. BokehJS is too large for a widget's module,
 * which every notebook contains, and a busy kernel cannot send it. So it is a static file of the
 * JupyterLab plugin. Without the plugin (Colab, VS Code) it comes from a CDN.
 */
import type * as bokeh from "@bokeh/bokehjs/build/js/lib/index";
import type * as models from "@bokeh/bokehjs/build/js/lib/models/index";
import { t } from "../words/loader.ts";

/** This must equal the version in package.json. The build checks it. */
const BOKEH_VERSION = "3.9.2";

const FILE = "bokeh.esm.min.js";
const CDN = `https://cdn.jsdelivr.net/npm/@bokeh/bokehjs@${BOKEH_VERSION}/build/js/`;

export type BokehNamespace = typeof bokeh & {
  /** `require("models/index")` and `require("document")` return parts of BokehJS. */
  require(name: string): unknown;
};
/** All of Bokeh's models by name. */
export type BokehModels = typeof models;

/**
 * Load BokehJS, or return BokehJS if it is loaded already.
 *
 * It does not touch the page's own `Bokeh`, which may have another version.
 *
 * @throws Error with one sentence for people, if BokehJS can be loaded from nowhere
 */
export async function loadBokeh(): Promise<BokehNamespace> {
  for (const place of [labextensionAddress(), CDN]) {
    if (place === null) continue;
    try {
      const address = place + FILE;
      const module: { default: BokehNamespace } = await import(
        /* @vite-ignore */ /* webpackIgnore: true */ address
      );
      return module.default;
    } catch (error) {
      console.warn(`Paddle Lab could not load BokehJS from ${place}`, error);
    }
  }
  throw new Error(t("no_bokeh"));
}

/** Bokeh's models as constructors: `new bokehModels(bokeh).Plot({…})`. */
export function bokehModels(bokeh: BokehNamespace): BokehModels {
  return bokeh.require("models/index") as BokehModels;
}

/** Address of the plugin's files; `null` outside JupyterLab and Notebook 7. */
function labextensionAddress(): string | null {
  const text = document.querySelector("#jupyter-config-data")?.textContent;
  if (!text) return null;
  const { fullLabextensionsUrl: extensions } = JSON.parse(text) as Record<string, unknown>;
  if (typeof extensions !== "string") return null;
  return new URL(`${extensions}/paddle-lab/static/bokeh-${BOKEH_VERSION}/`, document.baseURI).href;
}

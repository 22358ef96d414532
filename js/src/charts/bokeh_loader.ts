/**
 * BokehJS, loaded once per page. It is too large for a widget's module, which every notebook carries, and a
 * busy kernel cannot be asked for it; so it is a static file of the JupyterLab plugin, and where
 * the plugin is not (Colab, VS Code) comes from a CDN. A saved page carries a part of it as text
 * (`carried_bokeh.ts`), which is run when the first chart needs it: that takes longer than drawing the
 * graph.
 */
import type * as bokeh from "@bokeh/bokehjs/build/js/lib/index";
import type * as models from "@bokeh/bokehjs/build/js/lib/models/index";
import { t } from "../words/loader.ts";
import type * as carried from "./carried_models.ts";

/** As in package.json; the build refuses another. */
const BOKEH_VERSION = "3.9.2";

const FILE = "bokeh.esm.min.js";
/** Registers itself with the BokehJS that lies beside it. */
const WEBGL_FILE = "bokeh-gl.esm.min.js";
/** As in paddle_lab/views/html/page.py. */
const CARRIED = "#pdl-bokeh";
const CDN = `https://cdn.jsdelivr.net/npm/@bokeh/bokehjs@${BOKEH_VERSION}/build/js/`;

type Bokeh = typeof bokeh;
/** All of Bokeh's models by name, to make figures from. */
export type BokehModels = typeof models;
/** Those of them that a saved page has too. */
export type CarriedModels = typeof carried;

/** What a saved page has of BokehJS. */
export interface CarriedBokeh {
  readonly embed: Pick<Bokeh["embed"], "add_document_standalone">;
  readonly logger: Bokeh["logger"];
  /** `require("models/index")` and `require("document")`, as BokehJS names its parts. */
  require(name: string): unknown;
}

export type BokehNamespace = Bokeh & CarriedBokeh;

/** Load all of BokehJS, where no saved page carries a part of it. */
export async function loadWholeBokeh(): Promise<BokehNamespace> {
  return (await loadBokeh()) as BokehNamespace;
}

/**
 * Load BokehJS, or get the one that is loaded; in a saved page the part that it carries.
 *
 * It leaves the page's own `Bokeh` alone, which may be of another version.
 *
 * @throws Error in a sentence for people, if it can be had from nowhere
 */
export async function loadBokeh({ webgl = false } = {}): Promise<CarriedBokeh> {
  const bokeh = inlineBokeh() ?? (await servedBokeh(webgl));
  // To run it takes long: the page answers before a chart is made of it.
  await new Promise((resolve) => setTimeout(resolve));
  return bokeh;
}

async function servedBokeh(webgl: boolean): Promise<CarriedBokeh> {
  const places = [labextensionAddress(), CDN].filter((place) => place !== null);
  for (const place of places) {
    try {
      const bokeh = await importDefault<BokehNamespace>(place + FILE);
      // The page's module map keeps each of them once, however often they are imported.
      if (webgl) await importDefault(place + WEBGL_FILE);
      return bokeh;
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

/** The same, of those that are there in a saved page too. */
export function carriedModels(bokeh: CarriedBokeh): CarriedModels {
  return bokeh.require("models/index") as CarriedModels;
}

/** Whether the page brings BokehJS along and has not run it yet. */
export function carriesBokeh(): boolean {
  return document.querySelector(CARRIED) !== null;
}

function inlineBokeh(): CarriedBokeh | undefined {
  const carried = document.querySelector(CARRIED);
  if (carried) {
    // The page's policy allows this text alone, by its hash.
    const script = document.createElement("script");
    script.textContent = carried.textContent;
    carried.replaceWith(script);
    script.remove();
  }
  const page = globalThis as { Bokeh?: Record<string, CarriedBokeh | undefined> };
  return page.Bokeh?.[BOKEH_VERSION];
}

/** Where the plugin's files lie; `null` outside JupyterLab and Notebook 7. */
function labextensionAddress(): string | null {
  const text = document.querySelector("#jupyter-config-data")?.textContent;
  if (!text) return null;
  const { fullLabextensionsUrl: extensions } = JSON.parse(text) as Record<string, unknown>;
  if (typeof extensions !== "string") return null;
  return new URL(`${extensions}/paddle-lab/static/bokeh-${BOKEH_VERSION}/`, document.baseURI).href;
}

async function importDefault<T>(address: string): Promise<T> {
  const module: { default: T } = await import(/* @vite-ignore */ /* webpackIgnore: true */ address);
  return module.default;
}

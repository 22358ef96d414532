/**
 * The part of BokehJS that a saved page carries, bundled on its own: half of the whole, which takes
 * twice as long to run. It is found where the loader looks for the whole.
 */
import { logger } from "@bokeh/bokehjs/build/js/lib/core/logging";
import { Document, documents } from "@bokeh/bokehjs/build/js/lib/document/document";
import { add_document_standalone } from "@bokeh/bokehjs/build/js/lib/embed/standalone";
import * as annotation from "@bokeh/bokehjs/build/js/lib/models/annotations/annotation";
import { version } from "@bokeh/bokehjs/build/js/lib/version";
import type { CarriedBokeh } from "./bokeh_loader.ts";
import * as models from "./carried_models.ts";

const modules: Readonly<Record<string, object>> = {
  document: { Document, documents },
  "models/annotations/annotation": annotation,
  "models/index": models,
};
const bokeh: CarriedBokeh = {
  embed: { add_document_standalone },
  logger,
  require(name) {
    const found = modules[name];
    if (!found) {
      throw new Error(`this page carries no ${name} of BokehJS`);
    }
    return found;
  },
};
const page = globalThis as { Bokeh?: Record<string, CarriedBokeh> };
page.Bokeh ??= {};
page.Bokeh[version] = bokeh;

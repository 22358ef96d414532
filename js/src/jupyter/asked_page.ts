/** Asks the kernel for the graph as an HTML page: only the kernel has the whole trace and the scripts. */

import type { AnyModel } from "@anywidget/types";
import { t } from "../words/page.ts";
import { ask } from "./asking.ts";

/** @throws Error with a readable message if no kernel answers, or the kernel makes no page */
export async function askForPage(model: AnyModel): Promise<Blob> {
  const { buffers } = await ask(model, "page", {}, () => t("export.no_kernel"));
  return new Blob(buffers, { type: "text/html" });
}

/** Texts that say what a page lacks to show a kernel's widget. The kernel does not know this. */
import { PageConfig } from "@jupyterlab/coreutils";
import { t } from "../words/environments.ts";
import { joined, speak } from "../words/say.ts";
import type { SavedGraph, SavedNote } from "./graph_mime.ts";
import type { Outcome } from "./kernel_widget.ts";

/** JupyterLab's list of its plugins. */
export interface Plugins {
  hasPlugin(id: string): boolean;
}

/** A package on the server, with the names of its extension and its plugin. */
const ANYWIDGET = { name: "anywidget", extension: "anywidget", plugin: "anywidget:plugin" };
const MANAGER = {
  name: "jupyterlab_widgets",
  extension: "@jupyter-widgets/jupyterlab-manager",
  plugin: "@jupyter-widgets/jupyterlab-manager:plugin",
};

/** Says why a graph is drawn from the output's data; "" if the only reason is a missing kernel. */
export function whyWithoutKernel(
  plugins: Plugins,
  { widget, note, language }: SavedGraph,
  outcome: Outcome,
): string {
  speak(language);
  const reasons = [note, whatPageLacks(plugins, widget?.anywidget, outcome)].filter(Boolean);
  return reasons.length > 0 ? t("drawn_without_kernel", { reason: joined(reasons) }) : "";
}

/** The text shown instead of a chart. */
export function whyNoChart(plugins: Plugins, saved: SavedNote, outcome: Outcome): string {
  if (!saved.widget) return saved.text;
  speak(saved.language);
  return whatPageLacks(plugins, saved.widget.anywidget, outcome) || saved.text;
}

function whatPageLacks(plugins: Plugins, version: string | undefined, outcome: Outcome): string {
  const served = servedExtensions();
  const missing = [ANYWIDGET, MANAGER].filter(
    ({ extension, plugin }) => !served.has(extension) && !plugins.hasPlugin(plugin),
  );
  if (missing.length > 0) {
    const requirements = missing.map((it) =>
      it === ANYWIDGET && version ? `${it.name}==${version}` : it.name,
    );
    return t("server_lacks", {
      packages: missing.map(({ name }) => name).join(t("and")),
      requirements: requirements.join(" "),
    });
  }
  return outcome === "failed" && version ? t("anywidget_fails", { version }) : "";
}

/** The extensions of the server. One with a missing dependency is listed, but does not work. */
function servedExtensions(): ReadonlySet<unknown> {
  try {
    const served: unknown = JSON.parse(PageConfig.getOption("federated_extensions") || "[]");
    return new Set((served as readonly { readonly name: unknown }[]).map(({ name }) => name));
  } catch {
    return new Set();
  }
}

/** Draws a graph from an output's own data: a chunk of its own, loaded with the first one. */

import { installStyle } from "../install_style.ts";
import { showPayload } from "../payload.ts";
import type { SavedGraph } from "./graph_mime.ts";

/** @returns what takes the graph down again */
export function showSavedGraph(root: HTMLElement, graph: SavedGraph): () => void {
  installStyle();
  const controller = new AbortController();
  const bytes = Uint8Array.from(atob(graph.payload), (character) => character.charCodeAt(0));
  const options = { isStandalone: false, ...(graph.height ? { height: graph.height } : {}) };
  void showPayload(root, bytes, options, controller.signal).then((app) => {
    if (app === undefined) return;
    if (graph.view) app.store.update({ mode: graph.view });
    if (controller.signal.aborted) app.dispose();
    else controller.signal.addEventListener("abort", () => app.dispose());
  });
  return () => controller.abort();
}

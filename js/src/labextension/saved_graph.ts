/** Draws a graph from an output's own data: a chunk of its own, loaded with the first one. */

import css from "built-widget.css";
import { showPayload } from "../payload.ts";
import type { SavedGraph } from "./graph_mime.ts";

const STYLE_ID = "paddle-lab-graph-style";

/** @returns what takes the graph down again */
export function showSavedGraph(root: HTMLElement, graph: SavedGraph): () => void {
  if (document.getElementById(STYLE_ID) === null) {
    const style = document.createElement("style");
    style.id = STYLE_ID;
    style.textContent = css;
    document.head.append(style);
  }
  const controller = new AbortController();
  const bytes = Uint8Array.from(atob(graph.payload), (character) => character.charCodeAt(0));
  const options = { isStandalone: false, ...(graph.height ? { height: graph.height } : {}) };
  void showPayload(root, bytes, options, controller.signal).then((app) => {
    if (app === undefined) return;
    if (controller.signal.aborted) app.dispose();
    else controller.signal.addEventListener("abort", () => app.dispose());
  });
  return () => controller.abort();
}

/**
 * Draws a graph from the data of an output. This separate chunk is loaded with the first such
 * graph.
 */

import css from "built-widget.css";
import { installStyle } from "../dom/install_style.ts";
import { showPayload } from "../payload.ts";
import { decodeBase64 } from "../trace/base64.ts";
import type { SavedGraph } from "./graph_mime.ts";

/** @returns a function that removes the graph */
export function showSavedGraph(root: HTMLElement, graph: SavedGraph, notice: string): () => void {
  installStyle(css, "paddle-lab-style");
  const controller = new AbortController();
  const bytes = decodeBase64(graph.payload);
  const { height, view } = graph;
  const options = {
    isStandalone: false,
    notices: notice ? [notice] : [],
    ...(height && { height }),
    ...(view && { view }),
  };
  void showPayload(root, bytes, options, controller.signal).then((app) => {
    if (app === undefined) return;
    if (controller.signal.aborted) app.dispose();
    else controller.signal.addEventListener("abort", () => app.dispose());
  });
  return () => controller.abort();
}

/** What an output carries beside the widget, so that it can be drawn without a kernel. */

export const GRAPH_MIME_TYPE = "application/vnd.paddle-lab.graph+json";
export const WIDGET_MIME_TYPE = "application/vnd.jupyter.widget-view+json";

export interface SavedGraph {
  /** The packed trace in base64. */
  readonly payload: string;
  /** CSS px. */
  readonly height?: number;
}

/** Reads an output's data; `null` if it is not of this kind. Nothing in it is trusted. */
export function readGraph(data: unknown): SavedGraph | null {
  if (typeof data !== "object" || data === null) return null;
  const { payload, height } = data as Record<string, unknown>;
  if (typeof payload !== "string" || payload === "") return null;
  return {
    payload,
    ...(typeof height === "number" && height >= 100 && height <= 10_000 ? { height } : {}),
  };
}

/** What an output carries beside the widget, so that it can be drawn without a kernel. */

import type { Mode } from "../model/store.ts";

export const GRAPH_MIME_TYPE = "application/vnd.paddle-lab.graph+json";
export const LIVE_MIME_TYPE = "application/vnd.paddle-lab.live+json";
export const WIDGET_MIME_TYPE = "application/vnd.jupyter.widget-view+json";

const MODES: readonly Mode[] = ["forward", "backward", "ladder", "memory"];

export interface SavedGraph {
  /** The packed trace in base64. */
  readonly payload: string;
  /** CSS px. */
  readonly height?: number;
  /** What it showed first. */
  readonly view?: Mode;
  /** Whether its kernel has more of the trace than was stored. */
  readonly isReduced: boolean;
}

/** Reads an output's data; `null` if it is not of this kind. Nothing in it is trusted. */
export function readGraph(data: unknown): SavedGraph | null {
  if (typeof data !== "object" || data === null) return null;
  const { payload, height, view, is_reduced } = data as Record<string, unknown>;
  if (typeof payload !== "string" || payload === "") return null;
  return {
    payload,
    isReduced: is_reduced === true,
    ...(typeof height === "number" && height >= 100 && height <= 10_000 ? { height } : {}),
    ...(MODES.includes(view as Mode) ? { view: view as Mode } : {}),
  };
}

/** Reads what an output says where its live chart is gone; text, whatever is in it. */
export function readNote(data: unknown): string {
  const { text } = (typeof data === "object" && data ? data : {}) as Record<string, unknown>;
  return typeof text === "string" ? text : "";
}

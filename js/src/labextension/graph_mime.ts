/** The data of an output, from which the graph can be drawn without a kernel. */

import type { Mode } from "../model/state/view_state.ts";

export const GRAPH_MIME_TYPE = "application/vnd.paddle-lab.graph+json";
export const LIVE_MIME_TYPE = "application/vnd.paddle-lab.live+json";
export const WIDGET_MIME_TYPE = "application/vnd.jupyter.widget-view+json";

const MODES: readonly Mode[] = ["forward", "backward", "ladder", "memory", "table", "time"];

/** The kernel's widget for an output. It is shown if possible. */
export interface KernelWidget {
  readonly modelId: string;
  /** The version of anywidget in the kernel. */
  readonly anywidget: string;
}

export interface SavedGraph {
  /** The packed trace in base64. */
  readonly payload: string;
  /** CSS px. */
  readonly height?: number;
  /** The view to show first. */
  readonly view?: Mode;
  /** Whether the kernel has more of the trace than the notebook stores. */
  readonly isReduced: boolean;
  readonly widget?: KernelWidget;
  /** Why the kernel had no widget. */
  readonly note?: string;
  readonly language?: string;
}

/** The text of an output whose live chart cannot be shown. */
export interface SavedNote {
  readonly text: string;
  readonly widget?: KernelWidget;
  readonly language?: string;
}

/** Reads the data of an output; `null` if it is of another kind. The data is not trusted. */
export function readGraph(data: unknown): SavedGraph | null {
  const { payload, height, view, is_reduced, note, ...more } = fieldsOf(data);
  if (typeof payload !== "string" || payload === "") return null;
  return {
    payload,
    isReduced: is_reduced === true,
    ...(typeof height === "number" && height >= 100 && height <= 10_000 ? { height } : {}),
    ...(MODES.includes(view as Mode) ? { view: view as Mode } : {}),
    ...(typeof note === "string" && note !== "" ? { note } : {}),
    ...readWidget(more),
  };
}

/**
 * Reads the text of an output whose live chart cannot be shown. The text is never parsed as markup.
 */
export function readNote(data: unknown): SavedNote {
  const { text, ...more } = fieldsOf(data);
  return { text: typeof text === "string" ? text : "", ...readWidget(more) };
}

/** The model of an output's widget, even if a substitute is shown instead. */
export function modelId(data: Readonly<Record<string, unknown>> | undefined): string | undefined {
  for (const type of [GRAPH_MIME_TYPE, LIVE_MIME_TYPE]) {
    const { widget } = readWidget(fieldsOf(data?.[type]));
    if (widget) return widget.modelId;
  }
  const { model_id } = fieldsOf(data?.[WIDGET_MIME_TYPE]);
  return typeof model_id === "string" ? model_id : undefined;
}

function readWidget(
  fields: Readonly<Record<string, unknown>>,
): Pick<SavedNote, "widget" | "language"> {
  const { model_id, anywidget } = fieldsOf(fields.widget);
  const { language } = fields;
  return {
    ...(typeof model_id === "string" && typeof anywidget === "string"
      ? { widget: { modelId: model_id, anywidget } }
      : {}),
    ...(typeof language === "string" ? { language } : {}),
  };
}

function fieldsOf(data: unknown): Readonly<Record<string, unknown>> {
  return (typeof data === "object" && data ? data : {}) as Record<string, unknown>;
}

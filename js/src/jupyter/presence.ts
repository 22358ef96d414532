/**
 * Tells the kernel that this page has a widget and, on request, whether the page shows it. The
 * kernel closes a widget that no page and no cell shows
 * (`paddle_lab/views/widgets/shown_widgets.py`).
 */
import type { AnyModel } from "@anywidget/types";

type PageGlobal = typeof globalThis & { [PAGE]?: string };

interface Presence {
  views: number;
  isAsked: boolean;
}

const PAGE = Symbol.for("paddle-lab.page");
/** Keyed by layout model. Each widget has one layout model for all its views. */
const presences = new WeakMap<object, Presence>();

/** Call this when a model arrives in the page. */
export function announce(model: AnyModel): void {
  const presence = presenceOf(model);
  model.on("msg:custom", (message: { kind?: unknown }) => {
    if (message?.kind !== "count_views") return;
    presence.isAsked = true;
    tell(model, { kind: "views", count: presence.views });
  });
  tell(model, { kind: "arrived" });
}

/** Call this for each view. The view ends when `signal` is aborted. */
export function countView(model: AnyModel, signal: AbortSignal): void {
  const presence = presenceOf(model);
  presence.views++;
  signal.addEventListener("abort", () => {
    presence.views--;
    if (presence.isAsked && presence.views === 0) tell(model, { kind: "views", count: 0 });
  });
}

function presenceOf(model: AnyModel): Presence {
  const layout: unknown = model.get("layout");
  const key = typeof layout === "object" && layout ? layout : model;
  const known = presences.get(key) ?? { views: 0, isAsked: false };
  presences.set(key, known);
  return known;
}

function tell(model: AnyModel, message: object): void {
  const page = globalThis as PageGlobal;
  page[PAGE] ??= Math.random().toString(36).slice(2);
  try {
    model.send({ ...message, page: page[PAGE] });
  } catch {
    // There is no kernel, or the widget is closed already.
  }
}

/**
 * Tells the kernel which pages have a widget and, when asked, whether they show it. The kernel
 * closes a widget that no page and no cell shows (`paddle_lab/views/widgets/shown_widgets.py`).
 */
import type { AnyModel } from "@anywidget/types";

type PageGlobal = typeof globalThis & { [PAGE]?: string };

interface Presence {
  views: number;
  isAsked: boolean;
}

const PAGE = Symbol.for("paddle-lab.page");
/** The keys are layout models. Each widget has one layout model, which all views of it share. */
const presences = new WeakMap<object, Presence>();

/** Must be called when a model arrives. */
export function announce(model: AnyModel): void {
  const presence = presenceOf(model);
  model.on("msg:custom", (message: { kind?: unknown }) => {
    if (message?.kind !== "count_views") return;
    presence.isAsked = true;
    tell(model, { kind: "views", count: presence.views });
  });
  tell(model, { kind: "arrived" });
}

/** Must be called for each view. The view lasts until `signal` is aborted. */
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

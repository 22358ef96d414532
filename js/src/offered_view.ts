/**
 * The JupyterLab plugin offers its copy of the view to widgets, so that notebooks need not store one:
 * the view would be by far the largest part of a notebook's widget state.
 */
import type * as view from "./widget_view.ts";
import { t } from "./words/loader.ts";

export type WidgetViewModule = typeof view;

interface OfferedView {
  /** Identifies the build: equal for equal sources. */
  readonly build: string;
  load(): Promise<WidgetViewModule>;
}

const KEY = Symbol.for("paddle-lab.view");
const OFFERED_EVENT = "paddle-lab:view-offered";
/** A page that restores its notebooks may draw them before its plugins are loaded. */
const PATIENCE_MS = 5000;

/** A page that nbconvert made from a notebook has the notebook's widgets in a script of this type. */
const CONVERTED = 'script[type="application/vnd.jupyter.widget-state+json"]';

type Page = typeof globalThis & { [KEY]?: OfferedView };

export function offerView(view: OfferedView): void {
  (globalThis as Page)[KEY] = view;
  document.dispatchEvent(new CustomEvent(OFFERED_EVENT));
}

export function offeredView(): OfferedView | undefined {
  return (globalThis as Page)[KEY];
}

/**
 * The view that the page offers, or will offer soon; `undefined` if it offers none.
 *
 * @throws an error that says what to do, if no plugin will ever offer a view
 */
export async function soonOfferedView(): Promise<OfferedView | undefined> {
  const view = offeredView();
  if (view) return view;
  if (document.querySelector(CONVERTED)) throw new Error(t("converted"));
  return new Promise((resolve) => {
    const end = (): void => resolve(offeredView());
    document.addEventListener(OFFERED_EVENT, end, { once: true });
    setTimeout(end, PATIENCE_MS);
  });
}

/**
 * The JupyterLab plugin offers its copy of the view to widgets, so that notebooks need not carry
 * theirs: of a notebook's widget state, the view would be the largest part by far.
 */
import type * as view from "./widget_view.ts";
import { t } from "./words/loader.ts";

export type WidgetViewModule = typeof view;

interface OfferedView {
  /** Identifies the build; equal for the same sources. */
  readonly build: string;
  load(): Promise<WidgetViewModule>;
}

const KEY = Symbol.for("paddle-lab.view");
const OFFERED_EVENT = "paddle-lab:view-offered";
/** A page that restores its notebooks may draw before its plugins are there. */
const PATIENCE_MS = 5000;

/** A page made of a notebook by nbconvert holds the notebook's widgets in a script of this type. */
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
 * The view that the page offers, or will soon; `undefined` where it does not.
 *
 * @throws an error that says what to do, if no plugin will ever come
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

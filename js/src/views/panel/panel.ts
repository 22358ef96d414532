/** The side panel: details of the selection, and the source. */

import { button, element } from "../../dom/element.ts";
import { traceTotals } from "../../model/graph/trace_totals.ts";
import type { LineNow } from "../../model/state/open_source_event.ts";
import type { Store } from "../../model/state/store.ts";
import type { Selection } from "../../model/state/view_state.ts";
import { t } from "../../words/page.ts";
import { openSource } from "../actions/open_source.ts";
import { iconButton } from "../controls.ts";
import { allocationDetails } from "../details/allocation.ts";
import { gradNodeDetails } from "../details/grad_node.ts";
import { groupDetails } from "../details/group.ts";
import { lineDetails } from "../details/line.ts";
import { gradientDetails } from "../details/numbers/gradient.ts";
import { opDetails } from "../details/op.ts";
import { overviewDetails } from "../details/overview.ts";
import { tensorDetails } from "../details/tensor.ts";
import type { PanelContext } from "../facts/context.ts";
import type { ValueSource } from "../facts/value_answer.ts";
import { isolateButtons } from "../isolate/isolate_items.ts";
import { hasLog, mountLog } from "../log/log_page.ts";
import { mountSource } from "../source/source.ts";
import { showUnderlined } from "../source/stack.ts";
import { mountSplitter } from "./splitter.ts";

const PAGES = ["details", "source", "log"] as const;
type Page = (typeof PAGES)[number];

/**
 * @param root the `.pdl-panel` element
 * @param later runs a function after the picture shows a change of the store
 * @param values computes values again; undefined without a kernel
 * @returns a function that removes the panel
 */
export function mountPanel(
  root: HTMLElement,
  store: Store,
  later: (act: () => void) => void,
  values?: ValueSource,
): () => void {
  const { trace } = store;
  const id = `pdl-${Math.random().toString(36).slice(2)}`;
  const tabs = {
    details: tab("details", t("app.details")),
    source: tab("source", t("panel.source")),
    log: tab("log", t("panel.log")),
  };
  const names: readonly Page[] = hasLog(trace) ? PAGES : PAGES.filter((name) => name !== "log");
  const pages = { details: page("details"), source: page("source"), log: page("log") };
  /** Whether the details are up to date. They are not written while their page is hidden. */
  let isWritten = false;
  /** Whether the selection has changed since the last update. */
  let isOther = false;
  const context: PanelContext = {
    store,
    trace,
    totals: traceTotals(trace),
    values: { source: values, isImage: false },
    openFrame(frame) {
      const at = (column: "file" | "line" | "cell") => trace.at("frames", column, frame);
      openSource(root, store, { file: at("file"), line: at("line"), cell: at("cell") });
    },
    showSource,
  };
  function showSource(file: number, line: number, now?: LineNow): void {
    source.show(file, line, now);
    turnTo("source");
  }
  store.onSource.add(showSource);
  const renderLog = hasLog(trace) ? mountLog(pages.log, context) : () => {};
  // Subscribe before the source view does. The source view then does not fill a page that this
  // listener hides.
  const unsubscribe = store.subscribe((state, previous) => {
    const isSelected = state.selection !== previous.selection;
    const isGroup = state.selection.kind === "group" && state.open !== previous.open;
    // The details show the gradients of the shown backward call.
    const isOtherCall = state.backwardCall !== previous.backwardCall && store.gradients.isRecorded;
    if (!isSelected && !isGroup && !isOtherCall) return;
    isWritten = false;
    isOther ||= isSelected;
    later(catchUp);
  });
  const source = mountSource(pages.source, store, { later, openDetails: () => turnTo("details") });
  const close = iconButton("×", t("panel.close"), () => store.update({ panelOpen: false }), {
    class: "pdl-button pdl-quiet pdl-icon",
  });
  const tabList = element(
    "div",
    { role: "tablist", "aria-label": t("toolbar.panel"), onkeydown: moveInTabs },
    ...names.map((name) => tabs[name]),
  );
  const disposeSplitter = mountSplitter(root);
  root.append(
    element("div", { class: "pdl-tabs" }, tabList, close),
    ...names.map((name) => pages[name]),
  );
  const { finding } = store;
  if (finding && finding.line > 0) source.show(finding.file, finding.line);
  // If gradients were recorded and nothing was found, show the details, which have the curve.
  const showsCurve = store.trace.table("grad_stats").length > 0 && !finding;
  turnTo(source.hasOwnSource && !showsCurve ? "source" : "details");
  // The view may have had a selection before the panel was mounted. Show it.
  turnToSelection(store.state.selection);

  function catchUp(): void {
    if (isOther) turnToSelection(store.state.selection);
    if (!isWritten && !pages.details.hidden) turnTo("details");
    isOther = false;
  }

  function turnToSelection({ kind }: Selection): void {
    // If the user reads the log, the log stays open when another op is selected.
    const readsLog =
      names.includes("log") && !pages.log.hidden && (kind === "op" || kind === "grad_node");
    if (kind !== "none") turnTo(kind === "line" ? "source" : readsLog ? "log" : "details");
  }

  function renderDetails(): void {
    isWritten = true;
    const focused = pages.details.contains(document.activeElement)
      ? (document.activeElement as HTMLElement)
      : null;
    const [head, ...rest] = detailsOf(context, store.state.selection);
    pages.details.replaceChildren(...(head ? [head] : []), ...isolateButtons(store), ...rest);
    if (!focused) return;
    // The pressed element was removed. Focus the element that replaced it, or the heading if there
    // is none.
    const mark = focused.dataset.focus;
    const successor = mark && pages.details.querySelector<HTMLElement>(`[data-focus="${mark}"]`);
    (successor || pages.details.querySelector<HTMLElement>("h2"))?.focus({ preventScroll: true });
  }

  function turnTo(name: Page): void {
    // If the user changes the page before this update does, the user's page stays.
    if (isOther) pages.details.scrollTop = 0;
    isOther = false;
    if (name === "details" && !isWritten) renderDetails();
    if (name === "log") renderLog();
    for (const other of names) {
      pages[other].hidden = other !== name;
      tabs[other].setAttribute("aria-selected", String(other === name));
      tabs[other].tabIndex = other === name ? 0 : -1;
    }
    if (name === "source") source.scrollToLit();
    if (name === "details") showUnderlined(pages.details);
  }

  function tab(name: Page, label: string): HTMLButtonElement {
    return button(label, () => turnTo(name), {
      class: "",
      role: "tab",
      id: `${id}-tab-${name}`,
      "aria-controls": `${id}-${name}`,
    });
  }

  function page(name: Page): HTMLElement {
    return element("div", {
      class: `pdl-panel-page pdl-scroll pdl-${name}-page`,
      role: "tabpanel",
      id: `${id}-${name}`,
      "aria-labelledby": `${id}-tab-${name}`,
    });
  }

  function moveInTabs(event: KeyboardEvent): void {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const step = event.key === "ArrowLeft" ? names.length - 1 : 1;
    const at = names.findIndex((name) => tabs[name] === event.target);
    const other = names[(at + step) % names.length]!;
    event.preventDefault();
    event.stopPropagation();
    turnTo(other);
    tabs[other].focus();
  }

  return () => {
    store.onSource.delete(showSource);
    unsubscribe();
    pages.log.dispatchEvent(new Event("pdl-dispose"));
    source.dispose();
    disposeSplitter();
    root.replaceChildren();
  };
}

function detailsOf(context: PanelContext, selection: Selection): HTMLElement[] {
  switch (selection.kind) {
    case "op":
      return opDetails(context, selection.op);
    case "grad_node":
      return gradNodeDetails(context, selection.gradNode);
    case "group":
      return groupDetails(context, selection.group);
    case "tensor":
      return tensorDetails(context, selection.tensor);
    case "gradient":
      return gradientDetails(context, selection.edge, selection.beside);
    case "allocation":
      return allocationDetails(context, selection.allocation);
    case "line":
      return lineDetails(context, selection.file, selection.line);
    case "none":
      return overviewDetails(context);
  }
}

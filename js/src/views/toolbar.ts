/** The toolbar: which graph is shown, and how. */
import { standInsOf } from "../model/stand_ins.ts";
import type { Mode, Store, ViewState } from "../model/store.ts";
import { hasMemory } from "../model/trace.ts";
import { mountCallChooser } from "./call_chooser.ts";
import { button, element } from "./element.ts";
import { mountExportMenu, type Shown } from "./export/export.ts";
import { openHelp } from "./help.ts";
import { switchMode } from "./jump.ts";
import { countOf, formatDuration } from "./panel/quantities.ts";
import { mountSearch } from "./search.ts";
import { mountViewMenu } from "./view_menu.ts";

const MODES: readonly (readonly [Mode, string, string])[] = [
  ["forward", "Forward", "What the cell computed (1)"],
  ["backward", "Backward", "The gradients' graph (2)"],
  ["ladder", "Ladder", "Both, each grad node on the row of its op (3)"],
  ["memory", "Memory", "What was allocated when, and by whom (4)"],
];

/** @returns what takes the toolbar down */
export function mountToolbar(root: HTMLElement, store: Store, shown: Shown): () => void {
  const app = root.closest<HTMLElement>(".pdl-app")!;
  const { trace } = store;
  const offered = MODES.filter(([mode]) => mode !== "memory" || hasMemory(trace));
  const modes = offered.map(([mode, label, title]) =>
    button(label, () => switchMode(store, mode), { class: undefined, title, "data-mode": mode }),
  );
  const segments = element(
    "div",
    { class: "pdl-segments", role: "group", "aria-label": "Graph" },
    ...modes,
  );
  const calls = element("span", { class: "pdl-calls" });
  const search = element("div", { class: "pdl-search" });
  const openAll = button("Open all", () => store.openAll());
  const closeAll = button("Close all", () => store.closeAll());
  const view = element("div", { class: "pdl-menu" });
  const exporting = element("div", { class: "pdl-menu" });
  const panel = button("Panel", () => store.update({ panelOpen: !store.state.panelOpen }), {
    title: "Show or hide the panel",
  });
  const help = button("?", () => openHelp(app), {
    class: "pdl-button pdl-icon",
    "aria-label": "Help",
    title: "Legend and keys (?)",
  });
  const { title } = trace.origin;
  const summary = summaryOf(store);
  root.append(
    element("span", { class: "pdl-title", title }, title || "Trace"),
    element("span", { class: "pdl-summary", title: summary }, summary),
    element("span", { class: "pdl-grow" }),
    segments,
    calls,
    search,
    element("span", { class: "pdl-wide" }, openAll, closeAll),
    view,
    exporting,
    panel,
    help,
  );
  const dispose = [
    mountCallChooser(calls, store),
    mountSearch(search, store),
    mountExportMenu(exporting, store, shown),
    mountViewMenu(view, store),
    store.subscribe(render),
    () => root.replaceChildren(),
  ];
  render(store.state);

  function render(state: ViewState): void {
    for (const mode of modes) {
      mode.setAttribute("aria-pressed", String(mode.dataset.mode === state.mode));
    }
    panel.setAttribute("aria-pressed", String(state.panelOpen));
    setIdle(openAll, store.isAllOpen, "Open every group", "Every group is open");
    setIdle(closeAll, store.isAllClosed, "Close every group", "Every group is closed");
  }

  return () => {
    for (const end of dispose) {
      end();
    }
  };
}

/** Say of a button whether there is anything for it to do. It keeps the focus, which `disabled` would take. */
function setIdle(of: HTMLButtonElement, isIdle: boolean, does: string, why: string): void {
  of.setAttribute("aria-disabled", String(isIdle));
  of.title = isIdle ? why : does;
}

/** "342 ops · 231 grad nodes · 38 ms · Paddle 3.3.1". */
function summaryOf({ trace }: Store): string {
  const { duration_ns, paddle } = trace.origin;
  const { opTotal, gradNodeTotal } = standInsOf(trace);
  return [
    countOf(opTotal, "op"),
    gradNodeTotal ? countOf(gradNodeTotal, "grad node") : "",
    duration_ns ? formatDuration(duration_ns) : "",
    paddle ? `Paddle ${paddle}` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** The toolbar: which graph is shown, and how. */
import { standInsOf } from "../model/stand_ins.ts";
import type { Mode, Store, ViewState } from "../model/store.ts";
import { hasMemory } from "../model/trace.ts";
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
  const calls = callChooser(store);
  const search = element("div", { class: "pdl-search" });
  const openAll = button("Open all", () => store.openAll(), { title: "Open every group" });
  const closeAll = button("Close all", () => store.closeAll(), { title: "Close every group" });
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
    calls.element,
    search,
    element("span", { class: "pdl-wide" }, openAll, closeAll),
    view,
    exporting,
    panel,
    help,
  );
  const dispose = [
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
    calls.render(state);
  }

  return () => {
    for (const end of dispose) {
      end();
    }
  };
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

/** Which backward call, where a cell made several. */
function callChooser(store: Store): { element: HTMLElement; render(state: ViewState): void } {
  const { trace } = store;
  const count = trace.table("backward_calls").length;
  const select = element(
    "select",
    {
      class: "pdl-button",
      "aria-label": "Backward call",
      title: "Which backward call",
      onchange: () => store.update({ backwardCall: Number(select.value) }),
    },
    ...Array.from({ length: count }, (_, call) =>
      element("option", { value: call }, callName(store, call)),
    ),
  );
  return {
    element: select,
    render(state) {
      select.hidden = count < 2 || state.mode === "forward" || state.mode === "memory";
      select.value = String(state.backwardCall);
    },
  };
}

/** "2 · paddle.grad · line 7 · failed". */
function callName({ trace }: Store, call: number): string {
  const kind = trace.backwardKind(call);
  const frame = trace
    .framesOfStack(trace.at("backward_calls", "stack", call))
    .find((at) => trace.frameKind(at) === "user");
  const parts = [
    kind === "remaining" ? "graphs left at the end" : kind,
    frame === undefined ? "" : `line ${trace.at("frames", "line", frame)}`,
    trace.textAt("backward_calls", "error", call) ? "failed" : "",
  ];
  return `${call + 1} · ${parts.filter(Boolean).join(" · ")}`;
}

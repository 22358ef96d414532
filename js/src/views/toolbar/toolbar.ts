/** The toolbar: which graph is shown, and how. */

import { button, element } from "../../dom/element.ts";
import { menuItem, menuLine, mountMenu } from "../../dom/menu.ts";
import type { Store } from "../../model/state/store.ts";
import { isGraph, type Mode, type ViewState } from "../../model/state/view_state.ts";
import { t } from "../../words/page.ts";
import { formatDuration } from "../../words/quantities.ts";
import { isOffered, switchMode } from "../actions/jump.ts";
import { mountColourMenu } from "../colour/colour_menu.ts";
import { iconButton, segments } from "../controls.ts";
import { mountExportMenu, type Shown } from "../export/export.ts";
import { openHelp } from "../keyboard/help.ts";
import { mountSearch } from "../search/search.ts";
import { mountCallChooser } from "./call_chooser.ts";

const MODES: readonly Mode[] = ["forward", "backward", "ladder", "memory", "table", "time"];

/** @returns a function that removes the toolbar */
export function mountToolbar(root: HTMLElement, store: Store, shown: Shown): () => void {
  const app = root.closest<HTMLElement>(".pdl-app")!;
  const { trace } = store;
  const modes = segments(
    t("toolbar.graph"),
    "data-mode",
    MODES.filter((mode) => isOffered(trace, mode)).map((name) => ({
      name,
      label: t(`mode.${name}`),
      title: t(`mode.${name}_title`),
    })),
    (mode) => switchMode(store, mode),
  );
  const calls = element("span", { class: "pdl-calls" });
  const search = element("div", { class: "pdl-search" });
  const openAll = button(t("toolbar.open_all"), () => store.openAll());
  const closeAll = button(t("toolbar.close_all"), () => store.closeAll());
  const view = element("div", { class: "pdl-menu" });
  const colour = element("div", { class: "pdl-menu pdl-colour-menu" });
  const exporting = element("div", { class: "pdl-menu" });
  const panel = button(
    t("toolbar.panel"),
    () => store.update({ panelOpen: !store.state.panelOpen }),
    {
      title: t("toolbar.panel_title"),
    },
  );
  const help = iconButton("?", t("toolbar.help_title"), () => openHelp(app), {
    "aria-label": t("toolbar.help"),
  });
  const { title } = trace.origin;
  const parts = summaryOf(store);
  const summary = parts.join(" · ");
  root.append(
    element(
      "span",
      // There is not always room for the summary.
      { class: "pdl-title", title: title ? `${title}\n${summary}` : summary },
      title || t("toolbar.trace"),
    ),
    element(
      "span",
      { class: "pdl-summary", title: summary },
      ...parts.map((part) => element("span", {}, part)),
    ),
    element("span", { class: "pdl-grow" }),
    modes.element,
    calls,
    search,
    element("span", { class: "pdl-wide" }, openAll, closeAll),
    colour,
    view,
    exporting,
    panel,
    help,
  );
  const dispose = [
    mountCallChooser(calls, store),
    mountSearch(search, store),
    mountExportMenu(exporting, store, shown),
    mountColourMenu(colour, store),
    mountViewMenu(view, store),
    store.subscribe(render),
    () => root.replaceChildren(),
  ];
  render(store.state);

  function render(state: ViewState): void {
    modes.press(state.mode);
    panel.setAttribute("aria-pressed", String(state.panelOpen));
    setIdle(openAll, store.isAllOpen, t("toolbar.open_all_does"), t("toolbar.open_all_done"));
    setIdle(closeAll, store.isAllClosed, t("toolbar.close_all_does"), t("toolbar.close_all_done"));
  }

  return () => {
    for (const end of dispose) {
      end();
    }
  };
}

/** Mark a button that has nothing to do. Unlike a disabled button, it keeps the focus. */
function setIdle(of: HTMLButtonElement, isIdle: boolean, does: string, why: string): void {
  of.setAttribute("aria-disabled", String(isIdle));
  of.title = isIdle ? why : does;
}

/** "342 ops", "231 grad nodes", "38 ms", "Paddle 3.3.1": the most important first. */
function summaryOf({ trace }: Store): string[] {
  const { duration_ns, paddle } = trace.origin;
  const inPrograms = trace.opCount - trace.recordedOpCount;
  const gradNodes = trace.recordedGradNodeCount;
  return [
    t("count.op", { n: trace.recordedOpCount }),
    gradNodes ? t("count.grad_node", { n: gradNodes }) : "",
    inPrograms ? t("count.program_op", { n: inPrograms }) : "",
    duration_ns ? formatDuration(duration_ns) : "",
    paddle ? `Paddle ${paddle}` : "",
  ].filter(Boolean);
}

/**
 * The view menu: switches and less common commands.
 *
 * @param root a `.pdl-menu` element
 * @returns a function that removes the menu
 */
function mountViewMenu(root: HTMLElement, store: Store): () => void {
  const check = (
    label: string,
    name: "showShapes" | "showNorms" | "showParameters" | "showOptimizer" | "outlineOpen",
  ): HTMLElement => {
    const isChecked = store.state[name];
    return menuItem(label, () => store.update({ [name]: !isChecked }), { isChecked });
  };
  // Without a graph, only the item of the outline has an effect.
  const graphItems = (): (HTMLElement | false)[] => [
    menuItem(t("view_menu.open_all"), () => store.openAll(), { isEnabled: !store.isAllOpen }),
    menuItem(t("view_menu.close_all"), () => store.closeAll(), { isEnabled: !store.isAllClosed }),
    menuItem(
      t("view_menu.fold_repeats"),
      () => store.update({ unfolded: new Set(), taken: new Set() }),
      {
        isEnabled: store.state.unfolded.size + store.state.taken.size > 0,
      },
    ),
    menuItem(t("view_menu.undo"), () => store.undo(), { isEnabled: store.canUndo, note: "Ctrl+Z" }),
    menuItem(t("view_menu.redo"), () => store.redo(), { isEnabled: store.canRedo, note: "Ctrl+Y" }),
    menuLine(),
    check(t("view_menu.shapes"), "showShapes"),
    store.gradients.isRecorded && check(t("view_menu.norms"), "showNorms"),
    check(t("view_menu.parameters"), "showParameters"),
    check(t("view_menu.optimizer"), "showOptimizer"),
  ];
  return mountMenu(root, t("view_menu.view"), () => [
    ...(isGraph(store.state.mode) ? graphItems() : []),
    check(t("view_menu.outline"), "outlineOpen"),
  ]).dispose;
}

/** The whole graph view: builds its parts and updates them together. */

import { afterPaint, nextTask } from "../dom/after_paint.ts";
import { button, element } from "../dom/element.ts";
import { readTheme, watchTheme } from "../dom/theme.ts";
import type { Store } from "../model/state/store.ts";
import type { Selection, ViewState } from "../model/state/view_state.ts";
import type { VisibleTree } from "../model/visible/visible_tree.ts";
import { hasMemory, type Trace } from "../trace/trace.ts";
import { t } from "../words/page.ts";
import { language, speak, speakIn } from "../words/say.ts";
import { isOffered } from "./actions/jump.ts";
import { toggleGroup } from "./actions/opening.ts";
import { placeOfSelection, selectionOfHit } from "./actions/selecting.ts";
import { mountBanner } from "./banner.ts";
import { ColourInk } from "./colour/colour_ink.ts";
import { ColourLegend } from "./colour/colour_legend.ts";
import { iconButton } from "./controls.ts";
import { emptyState } from "./empty_state.ts";
import type { ValueSource } from "./facts/value_answer.ts";
import { mountFindings } from "./findings/findings_bar.ts";
import { Following } from "./following.ts";
import { mountNormLegend } from "./gradients/norm_legend.ts";
import { mountIsolationBar } from "./isolate/isolation_bar.ts";
import { listenToKeys } from "./keyboard/keyboard.ts";
import { keepNotebookKeysAway } from "./keyboard/notebook_keys.ts";
import { type MemoryView, mountMemory } from "./memory/view.ts";
import { Outline } from "./outline/tree.ts";
import { mountPanel } from "./panel/panel.ts";
import { GraphCanvas } from "./picture/canvas.ts";
import type { Picture } from "./picture/picture.ts";
import { Tooltip } from "./picture/tooltip.ts";
import type { TextMeasure } from "./scene/measure.ts";
import type { Scene } from "./scene/scene.ts";
import { type Hit, isGroup } from "./scene/scene_index.ts";
import { StatusLine } from "./status.ts";
import { mountTable, type TableView } from "./table/view.ts";
import { mountTime, type TimeView } from "./time/view.ts";
import { mountToolbar } from "./toolbar/toolbar.ts";

export interface AppOptions {
  /** Height of the view in CSS px; a standalone page is filled. */
  readonly height?: number;
  readonly onSelect?: (selection: Selection, trace: Trace) => void;
  /** Makes an HTML page of the graph, to be saved. Undefined without a kernel. */
  readonly page?: () => Promise<Blob>;
  /** Computes values again. Undefined without a kernel. */
  readonly values?: ValueSource;
  /** Whether the view is a whole page. */
  readonly isStandalone: boolean;
  /** Notices about this view, shown before the trace's notices. */
  readonly notices?: readonly string[];
}

/** A trace that was read, and the objects that make pictures of the trace. */
export interface Prepared {
  readonly store: Store;
  readonly measure: TextMeasure;
  readonly picture: Picture;
}

export interface App {
  readonly store: Store;
  /** Resolves when the first picture is painted and all other parts are mounted. */
  readonly ready: Promise<void>;
  dispose(): void;
}

const ZOOM_STEP = 1.25;

export function mountApp(root: HTMLElement, prepared: Prepared, options: AppOptions): App {
  const { store, measure, picture } = prepared;
  const { trace } = store;
  speak(trace.origin.language);
  const parts = buildParts(options);
  // Without ops and memory, the view shows only a sentence and is only as high as the sentence.
  parts.app.classList.toggle("pdl-no-ops", !trace.opCount && !hasMemory(trace));
  root.append(parts.app);
  const theme = readTheme(parts.app);
  const tooltip = new Tooltip(parts.app, store, () => ColourInk.of(store, canvas.scene));
  const following = new Following();
  /** The group that was opened or closed last. It keeps its place on the screen. */
  let anchor: string | undefined;
  let outline: Outline | undefined;
  let tree: VisibleTree | undefined;
  let isDisposed = false;

  const canvas = new GraphCanvas(
    parts.canvas,
    store,
    measure,
    theme,
    {
      click(hit, event) {
        canvas.element.focus({ preventScroll: true });
        tooltip.hide();
        if (hit && refold(hit)) {
          return;
        }
        if (hit && "onToggle" in hit && hit.onToggle) {
          toggle(hit);
        } else if (!event.shiftKey || hit) {
          store.select(selectionOfHit(hit));
        }
      },
      doubleClick: toggle,
      hover(hit, x, y) {
        if (!hit) {
          tooltip.hide();
          return;
        }
        const [from, to] = [
          parts.app.getBoundingClientRect(),
          parts.canvas.getBoundingClientRect(),
        ];
        tooltip.show(hit, x + to.left - from.left, y + to.top - from.top);
      },
      placed(width) {
        picture.room = width;
        picture.refresh();
      },
      shrunk() {
        const place = placeOfSelection(store, canvas.scene);
        if (place) canvas.uncover(place);
      },
    },
    { ownsPage: options.isStandalone },
  );
  const colours = new ColourLegend(parts.canvas, store, () => canvas.scene);
  const status = new StatusLine(parts.status, store);
  picture.listen({
    composed({ tree: visible, scene, state }, before, isNew) {
      tree = visible;
      const changed = anchor ?? (before && changedGroup(state, before.state));
      canvas.show(scene, { isNew, ...(changed ? { anchor: changed } : {}) });
      anchor = undefined;
      status.shows(scene);
      colours.render();
      showEmptyState(parts.canvas, store, scene);
      following.hasPicture();
      following.after(showOutline);
    },
    failed(error) {
      parts.canvas.querySelector(".pdl-empty")?.remove();
      const reason = error instanceof Error ? error.message : String(error);
      const text = t("app.layout_failed", { reason });
      parts.canvas.append(element("div", { class: "pdl-empty pdl-error" }, text));
    },
  });
  measure.family = theme.font;

  function showOutline(): void {
    if (tree) outline?.show(tree);
    outline?.place(canvas.scene);
  }

  function toggle(hit: Hit | undefined): void {
    const isFrame = hit?.kind === "frame";
    const isBox = hit?.kind === "box" && isGroup(hit.box);
    if (isFrame) {
      anchor = hit.frame.id.replace(/:backward$/, "");
      store.setOpen(hit.frame.group, false);
    } else if (isBox) {
      anchor = hit.box.id.replace(/:backward$/, "");
      toggleGroup(store, hit.box.group, hit.box.kind === "fold");
    }
  }

  function refold(hit: Hit): boolean {
    const first =
      hit.kind === "chip" && hit.chip.kind === "refold"
        ? hit.box.group
        : hit.kind === "frame" && hit.onRefold
          ? hit.frame.group
          : -1;
    if (first >= 0) {
      store.setUnfolded(first, false);
    }
    return first >= 0;
  }

  store.onReveal.add(() => {
    const place = placeOfSelection(store, canvas.scene);
    if (place) {
      canvas.reveal(place, colours.height_px);
    }
  });
  const dispose = [
    speakIn(parts.app, trace.origin.language),
    mountToolbar(parts.toolbar, store, {
      scene: () => canvas.scene,
      memory: () => (store.state.mode === "memory" ? memory : undefined),
      table: () => (store.state.mode === "table" ? table : undefined),
      time: () => (store.state.mode === "time" ? time : undefined),
      page: options.page,
      isPage: options.isStandalone,
    }),
    mountFindings(parts.findings, store),
    mountBanner(parts.banner, store, options.isStandalone, options.notices),
    mountNormLegend(parts.canvas, store),
    mountIsolationBar(parts.isolation, store),
    listenToKeys(parts.app, store, canvas),
    keepNotebookKeysAway(parts.app),
    watchTheme(() => {
      const changed = readTheme(parts.app);
      measure.family = changed.font;
      canvas.theme = changed;
      colours.render();
    }),
    store.subscribe((state, previous) => {
      canvas.draw();
      if (state.mode !== previous.mode) {
        showMode();
      }
      parts.panel.hidden = !state.panelOpen;
      parts.outline.classList.toggle("pdl-visually-hidden", !state.outlineOpen);
      if (state.selection !== previous.selection) {
        options.onSelect?.(state.selection, trace);
      }
    }),
    () => memory?.dispose(),
    () => table?.dispose(),
    () => time?.dispose(),
    () => following.dispose(),
    () => colours.dispose(),
    () => status.dispose(),
    () => outline?.dispose(),
    () => tooltip.dispose(),
    () => canvas.dispose(),
    () => picture.dispose(),
    () => parts.app.remove(),
  ];
  parts.buttons.append(
    iconButton("+", t("app.zoom_in"), () => canvas.zoom(ZOOM_STEP)),
    iconButton("−", t("app.zoom_out"), () => canvas.zoom(1 / ZOOM_STEP)),
    button(t("app.fit"), () => canvas.fit(), { title: t("app.fit_title") }),
  );
  /** The memory view, once it has been shown. */
  let memory: MemoryView | undefined;
  /** The table, once it has been shown. */
  let table: TableView | undefined;
  /** The view of time, once it has been shown. */
  let time: TimeView | undefined;
  function showMode(): void {
    const isMemory = store.state.mode === "memory" && hasMemory(trace);
    const isTable = store.state.mode === "table" && isOffered(trace, "table");
    const isTime = store.state.mode === "time";
    const focused = document.activeElement;
    // A visually hidden outline describes the picture, so it is hidden together with the picture.
    const standsIn = parts.outline.classList.contains("pdl-visually-hidden");
    const hadFocus =
      parts.canvas.contains(focused) || (standsIn && parts.outline.contains(focused));
    parts.app.classList.toggle("pdl-shows-memory", isMemory);
    parts.app.classList.toggle("pdl-shows-table", isTable);
    parts.app.classList.toggle("pdl-shows-time", isTime);
    parts.app.classList.toggle("pdl-no-graph", isMemory || isTable || isTime);
    if (isTable) {
      table ??= mountTable(parts.canvas, store);
      table.show();
    }
    if (isTime) {
      time ??= mountTime(parts.canvas, store);
    }
    if (isMemory) {
      memory ??= mountMemory(parts.canvas, store, { ownsPage: options.isStandalone });
    }
    if (hadFocus) {
      // The focused element is hidden now. Without focus inside, the page would take the next key.
      const timeline = parts.canvas.querySelector<HTMLElement>("[role=slider]");
      if (isTable) table?.focus();
      else if (isTime) time?.focus();
      else (isMemory && timeline ? timeline : canvas.element).focus({ preventScroll: true });
    }
  }
  showMode();
  canvas.followSize();

  /** Parts around the picture. They are mounted after the picture is visible. */
  const rest = [
    () => {
      outline = new Outline(parts.outline, store);
      showOutline();
    },
    () =>
      dispose.unshift(
        mountPanel(parts.panel, store, (act) => following.after(act), options.values),
      ),
  ];
  /** Mount the other parts one by one, after the picture is painted. */
  async function mountRest(): Promise<void> {
    await afterPaint();
    for (const mount of rest) {
      if (isDisposed) return;
      mount();
      await nextTask();
    }
    // Read the rest now, so that damage in data that the picture does not show is found.
    for (const _ of trace.readRest()) {
      await nextTask();
      if (isDisposed) return;
    }
  }
  return {
    store,
    ready: mountRest(),
    dispose() {
      isDisposed = true;
      for (const end of dispose) {
        end();
      }
    },
  };
}

interface Parts {
  readonly app: HTMLElement;
  readonly toolbar: HTMLElement;
  readonly findings: HTMLElement;
  readonly banner: HTMLElement;
  readonly isolation: HTMLElement;
  readonly outline: HTMLElement;
  readonly canvas: HTMLElement;
  readonly buttons: HTMLElement;
  readonly panel: HTMLElement;
  readonly status: HTMLElement;
}

function buildParts(options: AppOptions): Parts {
  const toolbar = element("header", { class: "pdl-toolbar" });
  const findings = element("div", { class: "pdl-findings" });
  const banner = element("div", { class: "pdl-banner" });
  const isolation = element("div", { class: "pdl-isolation", hidden: true });
  const outline = element("div", { class: "pdl-outline pdl-visually-hidden" });
  const buttons = element("div", { class: "pdl-canvas-buttons" });
  const canvas = element("div", { class: "pdl-canvas" }, buttons);
  const panel = element("aside", { class: "pdl-panel", "aria-label": t("app.details") });
  const status = element("footer", { class: "pdl-status" });
  const app = element(
    "div",
    {
      class: options.isStandalone ? "pdl-app pdl-standalone" : "pdl-app",
      lang: language() === "zh" ? "zh-CN" : "en",
    },
    toolbar,
    findings,
    banner,
    isolation,
    element("div", { class: "pdl-body" }, outline, canvas, panel),
    status,
  );
  if (options.height) {
    app.style.setProperty("--pdl-height", `${options.height}px`);
  }
  return { app, toolbar, findings, banner, isolation, outline, canvas, buttons, panel, status };
}

function showEmptyState(root: HTMLElement, store: Store, scene: Scene): void {
  root.querySelector(".pdl-empty")?.remove();
  const note = emptyState(store, scene);
  if (note) {
    root.append(note);
  }
}

/** The one group that was opened or closed, by the id of the group in the picture. */
function changedGroup(now: ViewState, before: ViewState): string | undefined {
  for (const name of ["open", "unfolded", "taken"] as const) {
    const changed = [...now[name]].filter((group) => !before[name].has(group));
    changed.push(...[...before[name]].filter((group) => !now[name].has(group)));
    if (changed.length === 1) {
      return `group:${changed[0]}`;
    }
  }
  return undefined;
}

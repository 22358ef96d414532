/** The view of time: the nesting of its boxes, the path to the box that fills it, and the icicle. */
import { button, chooser, element } from "../../dom/element.ts";
import { showFailure } from "../../dom/failure.ts";
import type { Store } from "../../model/state/store.ts";
import { timeOf } from "../../model/time/box_facts.ts";
import { hasDevice } from "../../model/time/kernel_spans.ts";
import { NESTINGS, type Nesting } from "../../model/time/places.ts";
import { CELL_THREAD, threadsOf } from "../../model/time/spans.ts";
import { MEASURES, type Measure, TimeState } from "../../model/time/time_state.ts";
import { t } from "../../words/page.ts";
import { formatDuration, formatShare } from "../../words/quantities.ts";
import { legendElements } from "../colour/legend_parts.ts";
import { segments } from "../controls.ts";
import type { Drawing } from "../export/export_picture.ts";
import { IcicleView } from "./icicle_view.ts";
import { labelOfPart } from "./labels.ts";
import { timeLegend } from "./legend.ts";
import { SHARES } from "./paint.ts";

export interface TimeView {
  /** The icicle for the export. */
  drawing(): Drawing;
  focus(): void;
  dispose(): void;
}

/**
 * Mount the view of time over the graph's picture, which keeps its size and place.
 *
 * @param root the `.pdl-canvas` element
 */
export function mountTime(root: HTMLElement, store: Store): TimeView {
  const section = element("section", { class: "pdl-time", "aria-label": t("mode.time") });
  root.append(section);
  try {
    return mountParts(section, store, new TimeState(store));
  } catch (error) {
    showFailure(section, error);
    section.dataset.state = "failed";
    return {
      drawing() {
        throw error;
      },
      focus() {},
      dispose: () => section.remove(),
    };
  }
}

function mountParts(section: HTMLElement, store: Store, state: TimeState): TimeView {
  const app = section.closest<HTMLElement>(".pdl-app")!;
  const icicle = new IcicleView(store, state, app);
  const kernelTitle = hasDevice(store.trace) ? t("time.of_device") : t("time.of_kernel_calls");
  const hasKernels = store.trace.table("kernel_times").length > 0;
  const measures = segments<Measure>(
    t("time.whose"),
    "data-measure",
    MEASURES.map((name) => ({
      name,
      label: t(`time.${name}`),
      title: name === "host" ? t("time.host_title") : kernelTitle,
    })),
    (measure) => state.regrow({ measure, thread: CELL_THREAD }),
  );
  const hasLoops = store.trace.table("turns").length > 0;
  const nestings = segments<Nesting>(
    t("time.nested_by"),
    "data-nesting",
    NESTINGS.filter((nesting) => nesting !== "loop" || hasLoops).map((name) => ({
      name,
      label: t(`time.by_${name}`),
      title: t(`time.by_${name}_title`),
    })),
    (nesting) => state.regrow({ nesting }),
  );
  const threads = element("span", {}, ...threadChooser(state));
  const summary = element("span", { class: "pdl-soft", role: "status" });
  const crumbs = element("nav", { class: "pdl-time-crumbs", "aria-label": t("time.crumbs") });
  const percent = 100 * SHARES.strong;
  // The page mixes the colours, so that they follow the page's theme.
  const legend = timeLegend(
    (name) => `color-mix(in srgb, var(--pdl-${name}) ${percent}%, var(--pdl-bg))`,
  );
  section.append(
    element(
      "div",
      { class: "pdl-memory-bar" },
      nestings.element,
      hasKernels && measures.element,
      threads,
      element("span", { class: "pdl-grow" }),
      summary,
    ),
    crumbs,
    icicle.element,
    element("div", { class: "pdl-kinds pdl-legend" }, ...legendElements(legend)),
  );
  const dispose = [
    state.subscribe(render),
    store.subscribe((now, before) => {
      if (now.matches !== before.matches || now.query !== before.query) summarize();
    }),
    () => icicle.dispose(),
    () => section.remove(),
  ];
  render();
  icicle.draw();

  function render(): void {
    nestings.press(state.choice.nesting);
    const { measure } = state.choice;
    measures.press(measure);
    // Kernels have no thread.
    threads.hidden = measure === "kernels";
    const { trail } = state.choice;
    crumbs.hidden = trail.length < 2;
    crumbs.replaceChildren(
      ...trail
        .flatMap((part, at) => [
          at > 0 && " › ",
          button(labelOfPart(state, part), () => state.zoomOut(at), {
            class: "pdl-link",
            "aria-current": at === trail.length - 1 ? "true" : undefined,
          }),
        ])
        .filter((item) => item !== false),
    );
    summarize();
  }

  /** "38 ms in all", or the time of the search results. */
  function summarize(): void {
    const { grown } = state;
    const whole_ns = grown.tree.total_ns(0);
    if (!store.state.query.trim()) {
      summary.textContent = t("time.whole", { time: formatDuration(whole_ns) });
      return;
    }
    const found_ns = store.state.matches.length ? timeOf(grown, store.matchMask()) : 0;
    summary.textContent = t("time.found", {
      time: formatDuration(found_ns),
      share: formatShare(found_ns, whole_ns) || "0 %",
    });
  }

  return {
    drawing: () => icicle.drawing(),
    focus: () => icicle.focus(),
    dispose() {
      for (const end of dispose) end();
    },
  };
}

/** A chooser of the thread, if ops ran in several. */
function threadChooser(state: TimeState): HTMLElement[] {
  const threads = threadsOf(state.trace);
  if (threads.length < 2) return [];
  const name = (thread: number): string =>
    thread === CELL_THREAD ? t("time.cell_thread") : t("time.thread", { thread });
  const select = chooser(
    { "aria-label": t("time.which_thread"), title: t("time.which_thread") },
    threads.map((thread) => [thread, name(thread)]),
    (thread) => state.regrow({ thread }),
  );
  return [select];
}

/** The memory view of a trace: timeline, map of the address space, living blocks, their owners. */

import { button, chooser, element } from "../../dom/element.ts";
import { showFailure } from "../../dom/failure.ts";
import type { Cell } from "../../dom/table_text.ts";
import { reservedSteps } from "../../memory/blocks/marks.ts";
import { MemoryState } from "../../memory/memory_state.ts";
import type { Store } from "../../model/state/store.ts";
import { t } from "../../words/page.ts";
import { formatBytes, formatDuration } from "../../words/quantities.ts";
import { segments } from "../controls.ts";
import { holdersPage } from "./holders.ts";
import { mountKinds } from "./kinds.ts";
import { BlockMapView } from "./map/map.ts";
import { MemoryTable } from "./table/table.ts";
import { Timeline } from "./timeline/timeline.ts";

const PAGES = ["timeline", "map", "held"] as const;
type Page = (typeof PAGES)[number];

export interface MemoryView {
  /** The timeline as PNG. Rejects if the timeline cannot be drawn. */
  picture(): Promise<Blob>;
  /** The table of living blocks at the chosen moment. */
  alive(): Cell[][];
  dispose(): void;
}

/**
 * Mount the memory view over the graph's picture, which keeps its size and place.
 *
 * @param root the `.pdl-canvas` element
 */
export function mountMemory(
  root: HTMLElement,
  store: Store,
  options: { ownsPage: boolean },
): MemoryView {
  const section = element("section", { class: "pdl-memory", "aria-label": t("mode.memory") });
  root.append(section);
  try {
    return mountParts(section, store, new MemoryState(store.trace), options);
  } catch (error) {
    showFailure(section, error);
    section.dataset.state = "failed";
    return {
      picture: () => Promise.reject(error),
      alive: () => [],
      dispose: () => section.remove(),
    };
  }
}

function mountParts(
  section: HTMLElement,
  store: Store,
  memory: MemoryState,
  options: { ownsPage: boolean },
): MemoryView {
  const app = section.closest<HTMLElement>(".pdl-app")!;
  const timeline = new Timeline(store, memory, app, options);
  const table = new MemoryTable(store, memory);
  const kinds = element("div", {
    class: "pdl-kinds",
    role: "group",
    "aria-label": t("memory.kinds"),
  });
  const page = element("div", { class: "pdl-memory-page" });
  const summary = element("span", { class: "pdl-memory-summary" });
  const tabs = segments(
    t("mode.memory"),
    "data-page",
    PAGES.map((name) => ({ name, label: t(`memory.page_${name}`) })),
    turnTo,
  );
  section.replaceChildren(
    element(
      "div",
      { class: "pdl-memory-bar" },
      tabs.element,
      ...placeChooser(memory),
      element("span", { class: "pdl-grow" }),
      summary,
    ),
    page,
    kinds,
    table.element,
  );
  let takeDown = (): void => {};
  let shown: Page | undefined;
  const dispose = [
    mountKinds(kinds, store, memory),
    memory.subscribe((choice, previous) => {
      if (choice.place !== previous.place) {
        summarize();
        if (shown === "held") turnTo("held");
      }
    }),
    () => takeDown(),
    () => timeline.dispose(),
    () => table.dispose(),
    () => section.remove(),
  ];
  summarize();
  turnTo("timeline");
  timeline.draw();
  section.dataset.state = "ready";

  function turnTo(name: Page): void {
    takeDown();
    takeDown = () => {};
    shown = name;
    tabs.press(name);
    if (name === "timeline") {
      page.replaceChildren(timeline.element);
    } else if (name === "map") {
      const map = new BlockMapView(store, memory, app);
      takeDown = () => map.dispose();
      page.replaceChildren(map.element);
    } else {
      page.replaceChildren(holdersPage(store, memory));
    }
    kinds.hidden = table.element.hidden = name === "held";
  }

  function summarize(): void {
    const { blocks, trace } = memory;
    const { peak_bytes, peak_ns } = blocks.events;
    const reserved = Math.max(0, ...reservedSteps(trace, blocks.place).reserved_bytes);
    const peak = button(
      t("memory.peak", { size: formatBytes(peak_bytes) }),
      () => timeline.jump("peak"),
      {
        class: "pdl-link",
        title: t("memory.show_peak"),
      },
    );
    summary.replaceChildren(
      peak,
      ` ${t("memory.at", { time: formatDuration(peak_ns) })}`,
      reserved > 0 ? ` · ${t("memory.reserved", { size: formatBytes(reserved) })}` : "",
    );
  }

  return {
    picture: () => timeline.picture(),
    alive: () => table.cells(),
    dispose() {
      for (const end of dispose) {
        end();
      }
    },
  };
}

/** A chooser for the device, if there are several. */
function placeChooser(memory: MemoryState): HTMLElement[] {
  if (memory.places.length < 2) {
    return [];
  }
  const select = chooser(
    { "aria-label": t("memory.device"), title: t("memory.whose") },
    memory.places.map(({ place }, at) => [at, place || t("holder_kind.unknown")]),
    (place) => {
      const { peak_ns } = memory.places[place]!.events;
      memory.update({ place, from_ns: peak_ns, to_ns: peak_ns, kind: -1 });
    },
  );
  return [select];
}

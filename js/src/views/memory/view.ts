/** The memory of a trace: timeline, map of the address space, what stayed alive; and whose it was. */

import { showFailure } from "../../failure.ts";
import { emptyLedger } from "../../memory/ledger.ts";
import { expectedLedger } from "../../memory/ledger_ahead.ts";
import { reservedSteps } from "../../memory/marks.ts";
import { MemoryState } from "../../memory/memory_state.ts";
import type { Store } from "../../model/store.ts";
import { button, element } from "../element.ts";
import { formatBytes, formatDuration } from "../panel/quantities.ts";
import { holdersPage } from "./holders.ts";
import { mountKinds } from "./kinds.ts";
import { BlockMapView } from "./map.ts";
import { showOnceRead } from "./reading.ts";
import { MemoryTable } from "./table.ts";
import { Timeline } from "./timeline.ts";

const PAGES = [
  ["timeline", "Timeline"],
  ["map", "By address"],
  ["held", "Still alive"],
] as const;
type Page = (typeof PAGES)[number][0];

export interface MemoryView {
  /** The timeline as PNG; rejects where it cannot be drawn. */
  picture(): Promise<Blob>;
  dispose(): void;
}

/**
 * Lies over the graph's picture, which keeps its size and place beneath.
 *
 * @param root the `.pdl-canvas` element
 */
export function mountMemory(
  root: HTMLElement,
  store: Store,
  options: { ownsPage: boolean },
): MemoryView {
  const section = element("section", { class: "pdl-memory", "aria-label": "Memory" });
  root.append(section);
  const ahead = expectedLedger(store.trace);
  const isRead = !(ahead instanceof Promise);
  const memory = new MemoryState(store.trace, isRead ? ahead : emptyLedger(store.trace));
  const parts = mountParts(section, store, memory, options);
  const dispose = (): void => {
    parts.dispose();
    section.remove();
  };
  const drawn = isRead ? parts.draw() : showOnceRead(root, section, memory, ahead, parts.draw);
  drawn.then(
    () => {
      section.dataset.state = "ready";
    },
    (error: unknown) => {
      parts.dispose();
      showFailure(section, error);
      section.dataset.state = "failed";
    },
  );
  return {
    dispose,
    picture: async () => {
      await drawn;
      return parts.picture();
    },
  };
}

interface MountedParts extends MemoryView {
  /** Resolves once the timeline is drawn. */
  draw(): Promise<void>;
}

function mountParts(
  section: HTMLElement,
  store: Store,
  memory: MemoryState,
  options: { ownsPage: boolean },
): MountedParts {
  const app = section.closest<HTMLElement>(".pdl-app")!;
  const timeline = new Timeline(store, memory, app, options);
  const table = new MemoryTable(store, memory);
  const kinds = element("div", { class: "pdl-kinds", role: "group", "aria-label": "Kinds" });
  const page = element("div", { class: "pdl-memory-page" });
  const summary = element("span", { class: "pdl-memory-summary" });
  const places = element("span");
  const tabs = PAGES.map(([name, label]) =>
    button(label, () => turnTo(name), { class: undefined, "data-page": name }),
  );
  section.replaceChildren(
    element(
      "div",
      { class: "pdl-memory-bar" },
      element("div", { class: "pdl-segments", role: "group", "aria-label": "Memory" }, ...tabs),
      places,
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
        if (previous.place < 0) places.replaceChildren(...placeChooser(memory));
        summarize();
        if (shown === "held") turnTo("held");
      }
    }),
    () => takeDown(),
    () => timeline.dispose(),
    () => table.dispose(),
  ];
  places.replaceChildren(...placeChooser(memory));
  summarize();
  turnTo("timeline");

  function turnTo(name: Page): void {
    takeDown();
    takeDown = () => {};
    shown = name;
    for (const tab of tabs) {
      tab.setAttribute("aria-pressed", String(tab.dataset.page === name));
    }
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
    const peak = button(`peak ${formatBytes(peak_bytes)}`, () => timeline.jump("peak"), {
      class: "pdl-link",
      title: "Show what was alive at the peak",
    });
    summary.replaceChildren(
      peak,
      ` at ${formatDuration(peak_ns)}`,
      reserved > 0 ? ` · ${formatBytes(reserved)} reserved` : "",
    );
  }

  return {
    draw: () => timeline.draw(),
    picture: () => timeline.picture(),
    dispose() {
      for (const end of dispose) {
        end();
      }
    },
  };
}

/** Which device, where there are several. */
function placeChooser(memory: MemoryState): HTMLElement[] {
  if (memory.places.length < 2) {
    return [];
  }
  const select = element(
    "select",
    {
      class: "pdl-button",
      "aria-label": "Device",
      title: "Whose memory",
      onchange: () => {
        const place = Number(select.value);
        const { peak_ns } = memory.places[place]!.events;
        memory.update({ place, from_ns: peak_ns, to_ns: peak_ns, kind: -1 });
      },
    },
    ...memory.places.map(({ place }, at) => element("option", { value: at }, place || "unknown")),
  );
  return [select];
}

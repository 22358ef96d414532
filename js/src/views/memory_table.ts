/** What was alive in the chosen moment, by op, layer, line or kind: a table that is sorted and clicked. */
import { aliveAt, peakWithin, startedWithin } from "../memory/blocks.ts";
import {
  GROUPINGS,
  type GroupSum,
  type Groups,
  sumGroups,
  UNMET,
  UNMET_LABEL,
} from "../memory/grouping.ts";
import { EARLIER, MEMORY_KINDS } from "../memory/kinds.ts";
import type { MemoryState } from "../memory/memory_state.ts";
import type { Selection, Store } from "../model/store.ts";
import { button, element } from "./element.ts";
import { kindColour } from "./memory_palette.ts";
import { countOf, formatBytes, formatCount, formatDuration, formatShare } from "./quantities.ts";

const PAGE_ROWS = 100;
const GROUPING_LABELS = { op: "Op", layer: "Layer", line: "Line", kind: "Kind" } as const;

interface Row extends GroupSum {
  /** Started in the span, whether or not alive at its peak. */
  readonly allocated_bytes: number;
}

type SortColumn = "name" | "bytes" | "count" | "allocated_bytes";

export class MemoryTable {
  readonly element: HTMLElement;
  readonly #title = element("h3", { "aria-live": "polite" });
  readonly #note = element("span", { class: "pdl-soft" });
  readonly #table = element("table", {});
  readonly #tabs: HTMLButtonElement[];
  readonly #scroll: HTMLElement;
  #sort: { by: SortColumn; isDown: boolean } = { by: "bytes", isDown: true };
  #shownRows = PAGE_ROWS;
  #frame = 0;
  readonly #unsubscribe: (() => void)[];

  constructor(
    readonly store: Store,
    readonly memory: MemoryState,
  ) {
    this.#tabs = GROUPINGS.map((grouping) =>
      button(GROUPING_LABELS[grouping], () => memory.update({ grouping }), {
        class: undefined,
        "data-grouping": grouping,
      }),
    );
    const by = { class: "pdl-segments", role: "group", "aria-label": "Grouped by" };
    this.#scroll = element("div", { class: "pdl-alive-rows pdl-scroll" }, this.#table);
    this.element = element(
      "section",
      { class: "pdl-alive", "aria-label": "Alive in this moment" },
      element(
        "div",
        { class: "pdl-alive-head" },
        element("div", { class: "pdl-alive-title" }, this.#title, this.#note),
        element("div", by, ...this.#tabs),
      ),
      this.#scroll,
    );
    this.#unsubscribe = [
      memory.subscribe((choice, previous) => {
        if (choice.grouping !== previous.grouping) {
          this.#shownRows = PAGE_ROWS;
          this.#scroll.scrollTop = 0;
        }
        // Brushing tells every move of the pointer.
        this.#frame ||= requestAnimationFrame(() => this.render());
      }),
      store.subscribe((state, previous) => {
        if (state.selection !== previous.selection) {
          this.#markSelected();
        }
      }),
      () => cancelAnimationFrame(this.#frame),
    ];
    this.render();
  }

  dispose(): void {
    for (const end of this.#unsubscribe) {
      end();
    }
  }

  render(): void {
    this.#frame = 0;
    const { blocks, choice } = this.memory;
    const { from_ns, to_ns, grouping } = choice;
    const isSpan = to_ns > from_ns;
    const at_ns = isSpan ? peakWithin(blocks, from_ns, to_ns) : from_ns;
    const alive = aliveAt(blocks, at_ns);
    const groups = this.memory.groups(grouping);
    const total_bytes = alive.reduce((sum, block) => sum + blocks.bytes[block]!, 0);
    const rows = isSpan
      ? this.#rowsOfSpan(groups, alive)
      : sumGroups(groups, blocks, alive).map((sum) => ({ ...sum, allocated_bytes: 0 }));
    const isPeak = at_ns === blocks.events.peak_ns;
    this.#title.textContent = `${formatBytes(total_bytes)} alive at ${formatDuration(Math.round(at_ns))}`;
    this.#note.textContent = [
      isSpan ? `peak of ${formatDuration(Math.round(to_ns - from_ns))}` : isPeak ? "the peak" : "",
      countOf(alive.length, "block"),
    ]
      .filter(Boolean)
      .join(" · ");
    for (const tab of this.#tabs) {
      tab.setAttribute("aria-pressed", String(tab.dataset.grouping === grouping));
    }
    this.#fill(groups, this.#sorted(rows, groups), total_bytes, isSpan);
    this.#markSelected();
  }

  /** Groups of the span's peak, and those that only allocated within the span. */
  #rowsOfSpan(groups: Groups, alive: Int32Array): Row[] {
    const { blocks, choice } = this.memory;
    const { first, end } = startedWithin(blocks, choice.from_ns, choice.to_ns);
    const started = new Int32Array(end - first).map((_, at) => first + at);
    const rows = new Map<number, Row>();
    for (const sum of sumGroups(groups, blocks, alive)) {
      rows.set(sum.group, { ...sum, allocated_bytes: 0 });
    }
    for (const sum of sumGroups(groups, blocks, started)) {
      const row = rows.get(sum.group);
      rows.set(
        sum.group,
        row
          ? { ...row, allocated_bytes: sum.bytes }
          : {
              ...sum,
              bytes: 0,
              count: 0,
              bytesOfKind: new Float64Array(MEMORY_KINDS.length),
              allocated_bytes: sum.bytes,
            },
      );
    }
    return [...rows.values()];
  }

  #sorted(rows: Row[], groups: Groups): Row[] {
    const { by, isDown } = this.#sort;
    const sign = isDown ? -1 : 1;
    if (by === "name") {
      const names = new Map(rows.map((row) => [row, labelOf(groups, row.group)]));
      const compare = new Intl.Collator(undefined, { numeric: true }).compare;
      return rows.sort((a, b) => sign * compare(names.get(a)!, names.get(b)!));
    }
    return rows.sort((a, b) => sign * (a[by] - b[by]) || b.bytes - a.bytes || a.group - b.group);
  }

  #fill(groups: Groups, rows: readonly Row[], total_bytes: number, isSpan: boolean): void {
    const largest_bytes = rows.reduce((most, row) => Math.max(most, row.bytes), 1);
    const head = element(
      "tr",
      {},
      this.#heading("name", GROUPING_LABELS[this.memory.choice.grouping]),
      this.#heading("bytes", "Size"),
      element("th", { scope: "col", class: "pdl-share" }, "Share"),
      this.#heading("count", "Blocks"),
      isSpan && this.#heading("allocated_bytes", "Allocated"),
    );
    const body = element(
      "tbody",
      {},
      ...rows
        .slice(0, this.#shownRows)
        .map((row) => this.#row(groups, row, total_bytes, largest_bytes, isSpan)),
    );
    const rest = rows.slice(this.#shownRows);
    const colspan = isSpan ? 5 : 4;
    this.#table.replaceChildren(element("thead", {}, head), body);
    if (rest.length) {
      const rest_bytes = rest.reduce((sum, row) => sum + row.bytes, 0);
      const more = button(
        `${countOf(rest.length, "more row")}, ${formatBytes(rest_bytes)}`,
        () => {
          this.#shownRows += 5 * PAGE_ROWS;
          this.render();
        },
        { class: "pdl-link" },
      );
      this.#table.append(element("tfoot", {}, element("tr", {}, element("td", { colspan }, more))));
    } else if (rows.length === 0) {
      body.append(
        element("tr", {}, element("td", { colspan, class: "pdl-soft" }, "Nothing was alive.")),
      );
    }
  }

  #heading(by: SortColumn, label: string): HTMLElement {
    const { by: sorted, isDown } = this.#sort;
    const isSorted = sorted === by;
    const sort = button(
      label,
      () => {
        this.#sort = { by, isDown: isSorted ? !isDown : by !== "name" };
        this.render();
        this.#table.querySelector<HTMLElement>(`[data-sort="${by}"]`)?.focus();
      },
      { class: "pdl-sort", "data-sort": by },
    );
    return element(
      "th",
      {
        scope: "col",
        class: by === "name" ? undefined : "pdl-number",
        "aria-sort": isSorted ? (isDown ? "descending" : "ascending") : "none",
      },
      sort,
    );
  }

  #row(
    groups: Groups,
    row: Row,
    total_bytes: number,
    largest_bytes: number,
    isSpan: boolean,
  ): HTMLElement {
    const isUnmet = row.group === UNMET;
    const note = isUnmet ? "" : groups.note(row.group);
    const { grouping } = this.memory.choice;
    const pick = (): void => this.#pick(groups, row.group);
    const label = labelOf(groups, row.group);
    const isLink = !isUnmet && (grouping === "kind" || groups.selection(row.group).kind !== "none");
    return element(
      "tr",
      { "data-group": row.group, onclick: isLink && pick },
      element(
        "td",
        { class: "pdl-alive-name" },
        grouping === "kind" && swatch(isUnmet ? EARLIER : row.group),
        isLink
          ? button(label, () => {}, { class: "pdl-link", title: label })
          : element("span", {}, label),
        !!note && " ",
        !!note && element("small", { title: note }, note),
      ),
      element("td", { class: "pdl-number" }, formatBytes(row.bytes)),
      element(
        "td",
        { class: "pdl-share" },
        shareBar(row, largest_bytes),
        element("span", {}, formatShare(row.bytes, total_bytes)),
      ),
      element("td", { class: "pdl-number" }, formatCount(row.count)),
      isSpan && element("td", { class: "pdl-number" }, formatBytes(row.allocated_bytes)),
    );
  }

  #pick(groups: Groups, group: number): void {
    if (this.memory.choice.grouping === "kind") {
      const { kind } = this.memory.choice;
      this.store.select({ kind: "none" });
      this.memory.update({ kind: kind === group ? -1 : group });
      return;
    }
    const selection = groups.selection(group);
    this.store.select(isSame(selection, this.store.state.selection) ? { kind: "none" } : selection);
  }

  #markSelected(): void {
    const { grouping, kind } = this.memory.choice;
    const groups = this.memory.groups(grouping);
    const { selection } = this.store.state;
    const owned =
      selection.kind === "allocation" ? groups.groupOf[selection.allocation]! : undefined;
    for (const row of this.#table.querySelectorAll<HTMLElement>("tbody > tr[data-group]")) {
      const group = Number(row.dataset.group);
      if (group === UNMET) {
        continue;
      }
      const isSelected =
        grouping === "kind" && owned === undefined
          ? group === kind
          : owned === undefined
            ? isSame(groups.selection(group), selection)
            : group === owned;
      row.setAttribute("aria-selected", String(isSelected));
    }
  }
}

export function swatch(kind: number): HTMLElement {
  const colour = kindColour(MEMORY_KINDS[kind]!);
  return element("span", { class: "pdl-swatch", style: `--pdl-swatch:${colour}` });
}

/** As wide as the group is large beside the largest, in its kinds' colours. */
function shareBar(row: Row, largest_bytes: number): HTMLElement {
  const bar = element("span", { class: "pdl-share-bar", "aria-hidden": "true" });
  row.bytesOfKind.forEach((bytes, kind) => {
    if (bytes > 0) {
      const width = `${((100 * bytes) / largest_bytes).toFixed(2)}%`;
      const colour = kindColour(MEMORY_KINDS[kind]!);
      bar.append(element("span", { style: `width:${width};--pdl-swatch:${colour}` }));
    }
  });
  return bar;
}

function labelOf(groups: Groups, group: number): string {
  return group === UNMET ? UNMET_LABEL : groups.label(group);
}

function isSame(a: Selection, b: Selection): boolean {
  return a.kind !== "none" && JSON.stringify(a) === JSON.stringify(b);
}

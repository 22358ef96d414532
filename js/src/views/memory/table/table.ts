/** What was alive in the chosen moment, by op, layer, line or kind: a table that is sorted and clicked. */

import { button, element } from "../../../dom/element.ts";
import type { Cell } from "../../../dom/table_text.ts";
import { EARLIER } from "../../../memory/blocks/kinds.ts";
import {
  firstGroups,
  labelOf,
  type SortColumn,
  type Sorting,
} from "../../../memory/grouping/group_order.ts";
import { type GroupSums, kindsOfGroups, sumGroups } from "../../../memory/grouping/group_sums.ts";
import { GROUPINGS } from "../../../memory/grouping/grouping.ts";
import { type Groups, UNMET } from "../../../memory/grouping/groups.ts";
import type { MemoryState } from "../../../memory/memory_state.ts";
import type { Store } from "../../../model/state/store.ts";
import type { Selection } from "../../../model/state/view_state.ts";
import { t } from "../../../words/page.ts";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatShare,
} from "../../../words/quantities.ts";
import { shareBarStyle } from "../figure/swatch.ts";
import { AliveRow, type RowContent } from "./rows.ts";
import { RowsInView } from "./rows_in_view.ts";
import { TableHead } from "./table_head.ts";

const PAGE_ROWS = 100;

export class MemoryTable {
  readonly element: HTMLElement;
  readonly #title = element("h3", { "aria-live": "polite" });
  readonly #note = element("span", { class: "pdl-soft" });
  readonly #head = new TableHead((by) => this.#sortBy(by));
  readonly #body = element("tbody", { onclick: (event: MouseEvent) => this.#click(event) });
  readonly #more = button("", () => this.#showMore(), { class: "pdl-link" });
  readonly #foot = element("tfoot", {}, element("tr", {}, element("td", {}, this.#more)));
  /** All that were ever shown. */
  readonly #rows: AliveRow[] = [];
  readonly #inView: RowsInView;
  readonly #tabs: HTMLButtonElement[];
  readonly #scroll: HTMLElement;
  #sorting: Sorting = { by: "bytes", isDown: true };
  #shownRows = PAGE_ROWS;
  #frame = 0;
  readonly #unsubscribe: (() => void)[];

  constructor(
    readonly store: Store,
    readonly memory: MemoryState,
  ) {
    this.#tabs = GROUPINGS.map((grouping) =>
      button(t(`memory.by_${grouping}`), () => memory.update({ grouping }), {
        class: undefined,
        "data-grouping": grouping,
      }),
    );
    const by = { class: "pdl-segments", role: "group", "aria-label": t("memory.grouped_by") };
    const table = element("table", {}, this.#head.element, this.#body, this.#foot);
    this.#scroll = element("div", { class: "pdl-alive-rows pdl-scroll" }, table);
    this.#inView = new RowsInView(this.#scroll);
    this.element = element(
      "section",
      { class: "pdl-alive", "aria-label": t("memory.alive_table") },
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
      () => this.#inView.dispose(),
    ];
    this.render();
  }

  dispose(): void {
    for (const end of this.#unsubscribe) {
      end();
    }
  }

  /** All rows, in their order, below a row of names: sizes in bytes, shares as parts of 1. */
  cells(): Cell[][] {
    const { blocks, choice, moment } = this.memory;
    const groups = this.memory.groups(choice.grouping);
    const sums = sumGroups(groups, blocks, moment.alive, moment.started);
    const names = [choice.grouping, "note", "bytes", "share", "blocks"];
    const rows = firstGroups(groups, sums, this.#sorting, sums.groups.length).map((at): Cell[] => {
      const group = sums.groups[at]!;
      const bytes = sums.bytes[at]!;
      const note = group === UNMET ? "" : groups.note(group);
      const share = moment.total_bytes > 0 ? bytes / moment.total_bytes : 0;
      const cells = [labelOf(groups, group), note, bytes, share, sums.counts[at]!];
      return moment.isSpan ? [...cells, sums.allocated_bytes[at]!] : cells;
    });
    return [moment.isSpan ? [...names, "allocated_bytes"] : names, ...rows];
  }

  render(): void {
    this.#frame = 0;
    const { blocks, choice, moment } = this.memory;
    const { from_ns, to_ns, grouping } = choice;
    const { alive, isSpan, time_ns, total_bytes } = moment;
    const groups = this.memory.groups(grouping);
    const sums = sumGroups(groups, blocks, alive, moment.started);
    const isPeak = time_ns === blocks.events.peak_ns;
    this.#title.textContent = t("memory.alive_at", {
      size: formatBytes(total_bytes),
      time: formatDuration(Math.round(time_ns)),
    });
    this.#note.textContent = [
      isSpan
        ? t("memory.span_peak", { span: formatDuration(Math.round(to_ns - from_ns)) })
        : isPeak
          ? t("memory.the_peak")
          : "",
      t("count.block", { n: alive.length }),
    ]
      .filter(Boolean)
      .join(" · ");
    for (const tab of this.#tabs) {
      tab.setAttribute("aria-pressed", String(tab.dataset.grouping === grouping));
    }
    this.#head.show(t(`memory.by_${grouping}`), this.#sorting, isSpan);
    this.#fill(groups, sums);
    this.#markSelected();
  }

  #fill(groups: Groups, sums: GroupSums): void {
    const { blocks, moment } = this.memory;
    const positions = firstGroups(groups, sums, this.#sorting, this.#shownRows);
    const shown = positions.map((at) => sums.groups[at]!);
    const kinds = kindsOfGroups(groups, blocks, moment.alive, shown);
    const largest_bytes = sums.bytes.reduce((most, bytes) => Math.max(most, bytes), 1);
    this.#inView.show(positions.length, (from, to) => {
      for (let i = from; i < to; i++) {
        const barStyle = shareBarStyle(kinds[i]!, largest_bytes);
        this.#rows[i] ??= new AliveRow();
        this.#rows[i]!.show(this.#content(groups, sums, positions[i]!, barStyle));
      }
      this.#place(Math.min(positions.length, this.#rows.length));
      if (from > 0) this.#markSelected();
    });
    const restCount = sums.groups.length - positions.length;
    const shown_bytes = positions.reduce((sum, at) => sum + sums.bytes[at]!, 0);
    const rest_bytes = sums.bytes.reduce((sum, bytes) => sum + bytes, 0) - shown_bytes;
    this.#foot.hidden = restCount === 0;
    this.#more.textContent = t("memory.more_rows", { n: restCount, size: formatBytes(rest_bytes) });
    const cell = this.#foot.querySelector("td")!;
    cell.colSpan = this.#head.columnCount;
  }

  /** Have the first `count` rows in the page, and no others. */
  #place(count: number): void {
    if (count === 0) {
      const colspan = this.#head.columnCount;
      const nothing = element("td", { colspan, class: "pdl-soft" }, t("memory.nothing"));
      this.#body.replaceChildren(element("tr", {}, nothing));
      return;
    }
    if (this.#body.firstChild !== this.#rows[0]!.element) {
      this.#body.replaceChildren();
    }
    while (this.#body.childElementCount > count) {
      this.#body.lastElementChild!.remove();
    }
    for (let at = this.#body.childElementCount; at < count; at++) {
      this.#body.append(this.#rows[at]!.element);
    }
  }

  #content(groups: Groups, sums: GroupSums, at: number, barStyle: string): RowContent {
    const { choice, moment } = this.memory;
    const group = sums.groups[at]!;
    const isUnmet = group === UNMET;
    const isKind = choice.grouping === "kind";
    return {
      group,
      label: labelOf(groups, group),
      note: isUnmet ? "" : groups.note(group),
      isLink: !isUnmet && (isKind || groups.selection(group).kind !== "none"),
      swatch: isKind ? (isUnmet ? EARLIER : group) : -1,
      size: formatBytes(sums.bytes[at]!),
      barStyle,
      share: formatShare(sums.bytes[at]!, moment.total_bytes),
      count: formatCount(sums.counts[at]!),
      allocated: moment.isSpan ? formatBytes(sums.allocated_bytes[at]!) : "",
    };
  }

  #sortBy(by: SortColumn): void {
    const { by: sorted, isDown } = this.#sorting;
    this.#sorting = { by, isDown: by === sorted ? !isDown : by !== "name" };
    this.render();
  }

  #showMore(): void {
    this.#shownRows += 5 * PAGE_ROWS;
    this.render();
  }

  #click(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>("tr[data-group]");
    if (row?.querySelector(".pdl-link")) {
      const group = Number(row.dataset.group);
      this.#pick(this.memory.groups(this.memory.choice.grouping), group);
    }
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
    const isSelected = (group: number): boolean =>
      grouping === "kind" && owned === undefined
        ? group === kind
        : owned === undefined
          ? isSame(groups.selection(group), selection)
          : group === owned;
    for (const row of this.#rows) {
      const { group } = row;
      row.mark(group === undefined || group === UNMET ? undefined : isSelected(group));
    }
  }
}

function isSame(a: Selection, b: Selection): boolean {
  return a.kind !== "none" && JSON.stringify(a) === JSON.stringify(b);
}

/** A sortable table of the living blocks at the chosen moment, by op, layer, line or kind. */

import { button, element } from "../../../dom/element.ts";
import type { Cell } from "../../../dom/table_text.ts";
import { EARLIER } from "../../../memory/blocks/kinds.ts";
import { firstGroups, labelOf, type SortColumn } from "../../../memory/grouping/group_order.ts";
import { type GroupSums, kindsOfGroups, sumGroups } from "../../../memory/grouping/group_sums.ts";
import { GROUPINGS, type Grouping } from "../../../memory/grouping/grouping.ts";
import { type Groups, UNMET } from "../../../memory/grouping/groups.ts";
import type { MemoryState } from "../../../memory/memory_state.ts";
import type { Store } from "../../../model/state/store.ts";
import type { Selection } from "../../../model/state/view_state.ts";
import { type Sorting, sortedBy } from "../../../model/table/sorting.ts";
import { t } from "../../../words/page.ts";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatShare,
} from "../../../words/quantities.ts";
import { type Segments, segments } from "../../controls.ts";
import { shareBarStyle, swatch } from "../figure/palette.ts";
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
  readonly #tabs: Segments<Grouping>;
  readonly #scroll: HTMLElement;
  #sorting: Sorting<SortColumn> = { by: "bytes", isDown: true };
  #shownRows = PAGE_ROWS;
  #frame = 0;
  readonly #unsubscribe: (() => void)[];

  constructor(
    readonly store: Store,
    readonly memory: MemoryState,
  ) {
    this.#tabs = segments(
      t("memory.grouped_by"),
      "data-grouping",
      GROUPINGS.map((name) => ({ name, label: t(`memory.by_${name}`) })),
      (grouping) => memory.update({ grouping }),
    );
    const table = element("table", {}, this.#head.element, this.#body, this.#foot);
    this.#scroll = element("div", { class: "pdl-alive-rows pdl-scroll" }, table);
    this.element = element(
      "section",
      { class: "pdl-alive", "aria-label": t("memory.alive_table") },
      element(
        "div",
        { class: "pdl-alive-head" },
        element("div", { class: "pdl-alive-title" }, this.#title, this.#note),
        this.#tabs.element,
      ),
      this.#scroll,
    );
    this.#unsubscribe = [
      memory.subscribe((choice, previous) => {
        if (choice.grouping !== previous.grouping) {
          this.#shownRows = PAGE_ROWS;
          this.#scroll.scrollTop = 0;
        }
        // Brushing reports every move of the pointer; render at most once per frame.
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

  /** All rows in their order, below a row of names; sizes in bytes, shares from 0 to 1. */
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
    this.#tabs.press(grouping);
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
    const focused = document.activeElement?.closest<HTMLElement>("tr[data-group]");
    const hadFocus = !!focused && this.#body.contains(focused);
    const rows = positions.map((at, i) =>
      this.#row(groups, sums, at, shareBarStyle(kinds[i]!, largest_bytes)),
    );
    const colspan = this.#head.columnCount;
    const nothing = element("td", { colspan, class: "pdl-soft" }, t("memory.nothing"));
    this.#body.replaceChildren(...(rows.length ? rows : [element("tr", {}, nothing)]));
    if (hadFocus) {
      const row = rows.find(({ dataset }) => dataset.group === focused.dataset.group);
      row?.querySelector("button")?.focus({ preventScroll: true });
    }
    const restCount = sums.groups.length - positions.length;
    const shown_bytes = positions.reduce((sum, at) => sum + sums.bytes[at]!, 0);
    const rest_bytes = sums.bytes.reduce((sum, bytes) => sum + bytes, 0) - shown_bytes;
    this.#foot.hidden = restCount === 0;
    this.#more.textContent = t("memory.more_rows", { n: restCount, size: formatBytes(rest_bytes) });
    this.#foot.querySelector("td")!.colSpan = colspan;
  }

  #row(groups: Groups, sums: GroupSums, at: number, barStyle: string): HTMLTableRowElement {
    const { choice, moment } = this.memory;
    const group = sums.groups[at]!;
    const isUnmet = group === UNMET;
    const isKind = choice.grouping === "kind";
    const isLink = !isUnmet && (isKind || groups.selection(group).kind !== "none");
    const label = labelOf(groups, group);
    const note = isUnmet ? "" : groups.note(group);
    const bytes = sums.bytes[at]!;
    const number = (text: string): HTMLElement => element("td", { class: "pdl-number" }, text);
    const bar = element("span", { class: "pdl-share-bar", "aria-hidden": "true" });
    bar.append(element("span", { style: barStyle }));
    return element(
      "tr",
      { "data-group": group },
      element(
        "td",
        { class: "pdl-alive-name" },
        isKind && swatch(isUnmet ? EARLIER : group),
        isLink
          ? button(label, () => {}, { class: "pdl-link", title: label })
          : element("span", {}, label),
        !!note && " ",
        !!note && element("small", { title: note }, note),
      ),
      number(formatBytes(bytes)),
      element(
        "td",
        { class: "pdl-share" },
        bar,
        element("span", {}, formatShare(bytes, moment.total_bytes)),
      ),
      number(formatCount(sums.counts[at]!)),
      moment.isSpan && number(formatBytes(sums.allocated_bytes[at]!)),
    );
  }

  #sortBy(by: SortColumn): void {
    this.#sorting = sortedBy(this.#sorting, by, by === "name");
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
    for (const row of this.#body.querySelectorAll<HTMLElement>("tr[data-group]")) {
      const group = Number(row.dataset.group);
      if (group !== UNMET) row.setAttribute("aria-selected", String(isSelected(group)));
    }
  }
}

function isSame(a: Selection, b: Selection): boolean {
  return a.kind !== "none" && JSON.stringify(a) === JSON.stringify(b);
}

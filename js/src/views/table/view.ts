/** The Table view: ops, layers, lines, iterations or grad nodes as rows, with what each costs. */

import { element } from "../../dom/element.ts";
import type { Cell } from "../../dom/table_text.ts";
import type { Store } from "../../model/state/store.ts";
import { dtypeNames } from "../../model/table/dtypes.ts";
import { isKindOffered } from "../../model/table/rows_of.ts";
import type { Sums } from "../../model/table/sums.ts";
import type { SumColumn } from "../../model/table/table_data.ts";
import { ROW_KINDS, type RowKind } from "../../model/table/table_rows.ts";
import { TableState } from "../../model/table/table_state.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { segments } from "../controls.ts";
import { TableBody } from "./body.ts";
import { FILE_NAMES } from "./columns.ts";
import { rowText } from "./labels.ts";

export interface TableView {
  /** The rows that are shown, below a row of names. */
  cells(): Cell[][];
  /** Show the changes that happened while the view was hidden. */
  show(): void;
  focus(): void;
  dispose(): void;
}

/**
 * Mount the table over the graph's picture, which keeps its size and place.
 *
 * @param root the `.pdl-canvas` element
 */
export function mountTable(root: HTMLElement, store: Store): TableView {
  const state = new TableState(store, (rows, row) => rowText(store.trace, rows, row).name);
  const body = new TableBody(store, state);
  const kinds = segments<RowKind>(
    t("table.rows"),
    "data-rows",
    ROW_KINDS.filter((kind) => isKindOffered(store.trace, kind)).map((name) => ({
      name,
      label: t(`table.by_${name}`),
      title: t(`table.by_${name}_title`),
    })),
    (kind) => {
      state.choose(kind);
      kinds.press(kind);
      body.render();
    },
  );
  const section = element(
    "section",
    { class: "pdl-costs", "aria-label": t("mode.table") },
    element(
      "div",
      { class: "pdl-memory-bar" },
      kinds.element,
      element("span", { class: "pdl-grow" }),
      body.summary,
    ),
    body.element,
    body.note,
  );
  root.append(section);
  kinds.press(state.kind);
  body.render();
  let frame = 0;
  const isShown = (): boolean => store.state.mode === "table";
  /** Whether the search has changed since the table was last shown. */
  let isOld = false;
  const dispose = [
    store.subscribe((now, before) => {
      isOld ||= now.matches !== before.matches || now.query !== before.query;
      if (isOld && isShown()) frame ||= requestAnimationFrame(renew);
      else if (now.selection !== before.selection && isShown()) body.follow();
    }),
    () => cancelAnimationFrame(frame),
    () => body.dispose(),
    () => section.remove(),
  ];

  function renew(): void {
    frame = 0;
    isOld = false;
    body.render();
  }

  return {
    cells: () => tableCells(store.trace, state),
    show() {
      if (isOld) renew();
      else body.follow();
    },
    focus: () => body.focus(),
    dispose() {
      for (const end of dispose) end();
    },
  };
}

/** Unrounded numbers, in the units of their column names; empty if unknown. */
export function tableCells(trace: Trace, state: TableState): Cell[][] {
  const { data, order } = state;
  const { rows, sums, dtypes } = data;
  const hasUnknown = sums.get("flops")?.unknown.some((count) => count > 0) === true;
  const names = [
    rows.kind === "each" ? "op" : rows.kind,
    "note",
    ...Array.from(sums.keys(), (column) => FILE_NAMES[column]),
    ...(hasUnknown ? ["unknown_flops"] : []),
    "dtype",
  ];
  return [
    names,
    ...Array.from(order, (row): Cell[] => {
      const { name, note } = rowText(trace, rows, row);
      return [
        name,
        note,
        ...Array.from(sums, ([column, of]) => cellOf(rows.kind, column, of, row)),
        ...(hasUnknown ? [sums.get("flops")!.unknown[row]!] : []),
        dtypeNames(trace, dtypes[row]!),
      ];
    }),
  ];
}

/** The text of a cell, as in `trace.table(by=…)`: empty if unknown, and 0 if nothing ran. */
function cellOf(
  kind: RowKind,
  column: SumColumn,
  { values, known, unknown }: Sums,
  row: number,
): Cell {
  const isOfSome = column === "output" || column === "saved";
  const isNone = !known[row] && (isOfSome || (kind === "node" && column.startsWith("parameter")));
  return isNone || (!values[row] && unknown[row]) ? "" : values[row]!;
}

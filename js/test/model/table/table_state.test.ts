import { describe, expect, test } from "vitest";
import { Store } from "../../../src/model/state/store.ts";
import { sortRows } from "../../../src/model/table/sorting.ts";
import { TableState } from "../../../src/model/table/table_state.ts";
import { rowText } from "../../../src/views/table/labels.ts";
import { encoder } from "../../records/synthetic_nets.ts";

async function opened(): Promise<{ store: Store; state: TableState; names: () => string[] }> {
  const store = new Store(await encoder(2).trace());
  const state = new TableState(store, (rows, row) => rowText(store.trace, rows, row).name);
  const names = () =>
    [...state.order].map((row) => rowText(store.trace, state.data.rows, row).name);
  return { store, state, names };
}

describe("what the table shows", () => {
  test("a second press on a column turns the order round; names begin with the first", async () => {
    const { state, names } = await opened();
    expect(names()[0]).toBe("linear");
    state.sortBy("name");
    expect(names()).toEqual(["add", "gelu", "linear", "mean"]);
    state.sortBy("name");
    expect(names()).toEqual(["mean", "linear", "gelu", "add"]);
  });

  test("ops of one name are sorted by their number", async () => {
    const { state, names } = await opened();
    state.choose("each");
    state.sortBy("name");
    expect(names().slice(0, 4)).toEqual(["add #4", "add #8", "gelu #2", "gelu #6"]);
  });

  test("what is not known is last in both directions", () => {
    const keys = Float64Array.of(Number.NaN, 3, 1, 3);
    expect([...sortRows(Int32Array.of(0, 1, 2, 3), keys, true)]).toEqual([1, 3, 2, 0]);
    expect([...sortRows(Int32Array.of(0, 1, 2, 3), keys, false)]).toEqual([2, 1, 3, 0]);
  });

  test("a click on the ops of a name selects one after the other, among those found", async () => {
    const { store, state } = await opened();
    const linear = state.order[0]!;
    const pick = (isNext: boolean) => store.select(state.selectionOf(linear, isNext));
    const picked = () => store.state.selection;
    pick(true);
    expect(picked()).toEqual({ kind: "op", op: 0 });
    pick(true);
    expect(picked()).toEqual({ kind: "op", op: 1 });
    store.update({ query: "fc2", matches: [3, 7] });
    pick(true);
    expect(picked()).toEqual({ kind: "op", op: 3 });
  });

  test("a selection marks the rows that it is in", async () => {
    const { store, state } = await opened();
    const lit = () =>
      [...state.litRows().keys()]
        .filter((row) => state.litRows()[row] === 1)
        .map((row) => rowText(store.trace, state.data.rows, row).name);
    store.select({ kind: "op", op: 2 });
    expect(lit()).toEqual(["gelu"]);
    store.select({ kind: "group", group: 2 });
    expect(lit()).toEqual(["linear", "gelu", "add"]);
    state.choose("node");
    const row = state.data.rows.rowOf[1]!;
    store.select(state.selectionOf(row, true));
    store.select(state.selectionOf(row, true));
    const { selection } = store.state;
    expect(selection.kind === "grad_node" && state.data.rows.rowOf[selection.gradNode]).toBe(row);
    expect([...state.litRows()].indexOf(1)).toBe(row);
  });

  test("a search without a result leaves the columns and no row", async () => {
    const { store, state } = await opened();
    const columns = [...state.data.sums.keys()];
    expect(columns.length).toBeGreaterThan(2);
    store.update({ query: "nothing", matches: [] });
    expect(state.order.length).toBe(0);
    expect([...state.data.sums.keys()]).toEqual(columns);
  });
});

import { expect, test } from "vitest";
import { comparisonOf, DIFFERENCES } from "../../src/model/graph/comparison.ts";
import { Store } from "../../src/model/state/store.ts";
import { rowsOf } from "../../src/model/table/rows_of.ts";
import { tableData } from "../../src/model/table/table_data.ts";
import { COMPARE_ORIGINS, COMPARE_STATES } from "../../src/trace/protocol.ts";
import { showNextDifference } from "../../src/views/actions/jump.ts";
import { boxValues } from "../../src/views/colour/box_values.ts";
import { ColourInk } from "../../src/views/colour/colour_ink.ts";
import { differencesText, differenceText } from "../../src/views/names/difference.ts";
import { EMPTY_SCENE, type Scene, type SceneBox } from "../../src/views/scene/scene.ts";
import { SearchIndex } from "../../src/views/search/search_index.ts";
import { bits } from "../records/planted.ts";
import { SyntheticTrace } from "../records/synthetic.ts";

const BOX = { op: -1, gradNode: -1, group: -1, tensor: -1, chips: [], state: "normal" } as const;

type State = (typeof COMPARE_STATES)[number];
type Origin = (typeof COMPARE_ORIGINS)[number];

/** Four ops in a block, and two after it. */
const STATES: readonly (readonly [State, Origin, error?: number])[] = [
  ["equal", ""],
  ["different", "introduced", 0.5],
  ["different", "inherited", 0.25],
  ["unknown", ""],
  ["only_b", ""],
  ["equal", ""],
];

async function compared(): Promise<{ store: Store; block: number }> {
  const made = new SyntheticTrace();
  const block = made.group("block", { className: "Block" });
  let x = made.tensor("[4, 16]", { kind: "external" });
  STATES.forEach(([state, origin, error = Number.NaN], at) => {
    const { op, out } = made.op("relu", { inputs: [x], group: at < 4 ? block : -1 });
    x = out[0]!;
    made.add("compared", {
      op,
      state: COMPARE_STATES.indexOf(state),
      origin: COMPARE_ORIGINS.indexOf(origin),
      max_abs: bits(error),
      max_rel: bits(error / 2),
      cosine: bits(Number.NaN),
      ulp: -1,
    });
  });
  return { store: new Store(await made.trace()), block };
}

function sceneOf(...boxes: Partial<SceneBox>[]): Scene {
  return { ...EMPTY_SCENE, boxes: boxes.map((box) => ({ ...BOX, ...box }) as SceneBox) };
}

test("a comparison is coloured by difference at first, another trace is not", async () => {
  const { store } = await compared();
  expect(store.state.colourBy).toBe("difference");
  const made = new SyntheticTrace();
  made.op("relu");
  const other = new Store(await made.trace());
  expect(other.state.colourBy).toBe("none");
  expect(comparisonOf(other.trace)).toBeUndefined();
  expect(showNextDifference(other, 1)).toBe(false);
});

test("a closed group shows its most telling op, and how many of its ops differ", async () => {
  const { store, block } = await compared();
  const group = { id: `group:${block}`, kind: "group", group: block } as const;
  const lone = { id: "op:4", kind: "op", op: 4 } as const;
  const equal = { id: "op:5", kind: "op", op: 5 } as const;
  const scene = sceneOf(group, lone, equal);
  const value = boxValues(store, scene, "difference").get(group.id);
  expect(value).toMatchObject({ known: 3, unknown: 1, positive: 2 });
  expect(DIFFERENCES[value!.value]).toBe("introduced");
  const ink = ColourInk.of(store, scene)!;
  const [first, second, third] = scene.boxes;
  expect(ink.text(first!)).toBe(differencesText(value!.value, 2, 4));
  expect(ink.text(second!)).toBe(differenceText(DIFFERENCES.indexOf("only_b")));
  expect(ink.text(third!)).toBe("");
  expect(ink.sentence(third!)).toContain(differenceText(0));
  expect(ink.differences).toEqual(["introduced", "only_b", "equal"]);
  expect(ink.scale).toBeUndefined();
});

test("grad nodes have the colours of their own differences", async () => {
  const made = new SyntheticTrace();
  let x = made.tensor("[4, 16]", { kind: "external" });
  STATES.slice(0, 3).forEach(([state], at) => {
    const { op, out, gradNode } = made.op("relu", { inputs: [x] });
    x = out[0]!;
    made.add("compared", { op, state: COMPARE_STATES.indexOf("equal") });
    const row = { grad_node: gradNode, state: COMPARE_STATES.indexOf(state) };
    if (at < 2) made.add("compared_grad_nodes", row);
  });
  made.backward(2);
  const store = new Store(await made.trace());
  const scene = () => sceneOf(...[0, 1, 2].map((node) => ({ id: `g:${node}`, gradNode: node })));
  for (const mode of ["ladder", "backward"] as const) {
    store.update({ mode });
    const shown = scene();
    const ink = ColourInk.of(store, shown)!;
    const texts = shown.boxes.map((box) => ink.text(box));
    expect(texts).toEqual(["", differenceText(DIFFERENCES.indexOf("different")), ""]);
    expect(ink.differences).toEqual(["different", "equal"]);
    expect(shown.boxes.map((box) => ink.isUnknown(box))).toEqual([false, false, true]);
  }
});

test("every kind of difference has words and a sign of its own", () => {
  const texts = DIFFERENCES.map((_, kind) => differenceText(kind));
  expect(new Set(texts.map((text) => text.split(" ")[0])).size).toBe(DIFFERENCES.length);
  expect(differenceText(Number.NaN)).not.toContain("=");
});

test("the search finds ops by their state", async () => {
  const { store } = await compared();
  const index = new SearchIndex(store.trace);
  expect(index.find("is:different")).toEqual([1, 2]);
  expect(index.find("is:introduced")).toEqual([1]);
  expect(index.find("is:only-b")).toEqual([4]);
  expect(index.find("is:unknown")).toEqual([3]);
  expect(index.find("-is:equal")).toEqual([1, 2, 3, 4]);
  expect(index.ask("is:only-a")).toMatchObject({ matches: [] });
  expect(index.ask("is:diff").problem).toMatchObject({ kind: "unknown" });
});

test("the table counts the ops that differ, and shows the largest errors", async () => {
  const { store } = await compared();
  const { sums } = tableData(store.trace, rowsOf(store.trace, "op"), undefined);
  const { values, known, unknown, total } = sums.get("differing")!;
  expect([values[0], known[0], unknown[0], total]).toEqual([3, 5, 1, 3]);
  expect(sums.get("max_abs")).toMatchObject({ total: 0.5, totalKnown: 2 });
  expect(sums.get("max_rel")!.values[0]).toBe(0.25);
});

test("keys step through the ops that differ", async () => {
  const { store } = await compared();
  const at = () => store.state.selection;
  showNextDifference(store, 1);
  expect(at()).toEqual({ kind: "op", op: 1 });
  showNextDifference(store, 1);
  showNextDifference(store, 1);
  expect(at()).toEqual({ kind: "op", op: 4 });
  showNextDifference(store, 1);
  expect(at()).toEqual({ kind: "op", op: 1 });
  showNextDifference(store, -1);
  expect(at()).toEqual({ kind: "op", op: 4 });
});

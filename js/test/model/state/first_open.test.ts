/** What is open in a first picture: as much as its view has room for. */
import { describe, expect, test } from "vitest";
import { Store } from "../../../src/model/state/store.ts";
import type { Mode } from "../../../src/model/state/view_state.ts";
import { LEGIBLE_SCALE } from "../../../src/views/picture/first_view.ts";
import { Picture } from "../../../src/views/picture/picture.ts";
import type { TextMeasure } from "../../../src/views/scene/measure.ts";
import type { Scene } from "../../../src/views/scene/scene.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

const MEASURE = {
  width: (text: string) => 7 * text.length,
  fit: (text: string) => text,
} as unknown as TextMeasure;

/** A chain of narrow layers, and one of `branches` ops beside each other. */
function model(branches: number): SyntheticTrace {
  const made = new SyntheticTrace();
  const layer = (name: string, x: number): number => {
    const group = made.group(name);
    const first = made.op("relu", { group, inputs: [x] });
    return made.op("tanh", { group, inputs: first.out }).out[0]!;
  };
  const weight = made.tensor("[4]", { kind: "parameter", path: "w" });
  const x = layer("stem", weight);
  const wide = made.group("wide");
  const ends = Array.from({ length: branches }, () => {
    const first = made.op("sigmoid", { group: wide, inputs: [x] });
    return made.op("exp", { group: wide, inputs: first.out }).out[0]!;
  });
  const joined = made.op("add_n", { group: wide, inputs: ends }).out[0]!;
  const loss = made.op("mean", { inputs: [layer("head", joined)] });
  made.backward(loss.gradNode);
  return made;
}

async function pictureOf(made: SyntheticTrace, mode: Mode = "forward") {
  const store = new Store(await made.trace());
  store.update({ mode });
  const picture = new Picture(store, MEASURE);
  const scenes: Scene[] = [];
  picture.listen({
    composed: ({ scene }) => scenes.push(scene),
    failed: (error) => expect(error).toBeUndefined(),
  });
  const openNames = (): string[] =>
    [...store.state.open].map((group) => store.trace.groupLabel(group)).sort();
  return { store, picture, scenes, openNames };
}

const WIDE_PX = 1200;
const NARROW_PX = 500;

describe.each(["forward", "backward", "ladder"] as const)("the first picture: %s", (mode) => {
  test("opens what there is room for, and no more", async () => {
    const made = model(4);
    const { picture, scenes, openNames } = await pictureOf(made, mode);
    picture.room = mode === "ladder" ? 700 : NARROW_PX;
    picture.refresh();
    expect(openNames()).toEqual(["head", "stem"]);
    expect(scenes).toHaveLength(1);
    expect(scenes[0]!.width * LEGIBLE_SCALE).toBeLessThan(700);
  });

  test("opens all where there is room", async () => {
    const { picture, openNames } = await pictureOf(model(4), mode);
    picture.room = 2 * WIDE_PX;
    picture.refresh();
    expect(openNames()).toEqual(["head", "stem", "wide"]);
  });
});

test("another graph has its own, and there is nothing to undo", async () => {
  const { store, picture, openNames } = await pictureOf(model(4));
  picture.room = 800;
  picture.refresh();
  expect([openNames(), store.canUndo]).toEqual([["head", "stem", "wide"], false]);
  store.update({ mode: "ladder" });
  expect(openNames()).toEqual(["head", "stem"]);
  store.update({ mode: "forward" });
  expect(openNames()).toEqual(["head", "stem", "wide"]);
});

test("what somebody opened stays open, however wide", async () => {
  const { store, picture, scenes, openNames } = await pictureOf(model(4));
  picture.room = NARROW_PX;
  picture.refresh();
  store.openAll();
  expect(openNames()).toEqual(["head", "stem", "wide"]);
  store.update({ mode: "ladder" });
  expect(openNames()).toEqual(["head", "stem", "wide"]);
  expect(scenes.at(-1)!.frames.length).toBeGreaterThan(2);
});

test("what is wide without any group stays as it is", async () => {
  const made = new SyntheticTrace();
  const x = made.tensor("[4]", { kind: "external" });
  for (let i = 0; i < 12; i++) made.op("relu", { inputs: [x] });
  const group = made.group("below");
  const end = made.op("tanh", { group, inputs: [x] }).out;
  made.op("tanh", { group, inputs: end });
  const { picture, scenes } = await pictureOf(made);
  picture.room = NARROW_PX;
  picture.refresh();
  expect(scenes).toHaveLength(1);
});

test("what is too wide closes although something narrow is open in it", async () => {
  const made = new SyntheticTrace();
  const wide = made.group("wide");
  const inner = made.group("inner", { parent: wide });
  let x = [made.tensor("[4]", { kind: "external" })];
  for (let i = 0; i < 3; i++) x = made.op("tanh", { group: inner, inputs: x }).out;
  const branches = Array.from({ length: 6 }, () => {
    return made.op("exp", { group: wide, inputs: x }).out[0]!;
  });
  x = made.op("add_n", { group: wide, inputs: branches }).out;
  for (let i = 0; i < 12; i++) x = made.op("relu", { inputs: x }).out;
  const { picture, scenes, openNames } = await pictureOf(made);
  picture.room = NARROW_PX;
  picture.refresh();
  expect(openNames()).toEqual([]);
  expect(scenes[0]!.width * LEGIBLE_SCALE).toBeLessThan(NARROW_PX);
});

test("what holds most of it stays open where it fits by itself", async () => {
  const made = new SyntheticTrace();
  const net = made.group("net");
  let x = [made.tensor("[4]", { kind: "external" })];
  for (let i = 0; i < 9; i++) x = made.op("relu", { group: net, inputs: x }).out;
  const others = Array.from({ length: 4 }, (_, at) => {
    const group = made.group(`other ${at}`);
    const first = made.op("tanh", { group, inputs: x }).out;
    return made.op("tanh", { group, inputs: first }).out[0]!;
  });
  made.op("add_n", { inputs: others });
  const { picture, openNames } = await pictureOf(made);
  picture.room = 420;
  picture.refresh();
  expect(openNames()).toEqual(["net"]);
});

test("nothing is closed around what somebody follows into another graph", async () => {
  const { store, picture, openNames } = await pictureOf(model(4));
  picture.room = 800;
  picture.refresh();
  const inWide = 3;
  store.select({ kind: "op", op: inWide });
  store.update({ mode: "ladder" });
  store.select({ kind: "op", op: inWide }, { reveal: true });
  expect(openNames()).toEqual(["head", "stem", "wide"]);
});

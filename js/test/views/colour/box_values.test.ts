import { expect, test } from "vitest";
import { Store } from "../../../src/model/state/store.ts";
import { boxValues } from "../../../src/views/colour/box_values.ts";
import { EMPTY_SCENE, type Scene, type SceneBox } from "../../../src/views/scene/scene.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

const BOX = { op: -1, gradNode: -1, group: -1, tensor: -1, chips: [], state: "normal" } as const;

function sceneOf(...boxes: Partial<SceneBox>[]): Scene {
  return { ...EMPTY_SCENE, boxes: boxes.map((box) => ({ ...BOX, ...box }) as SceneBox) };
}

/** A shared weight is read twice in the block, once outside of it. */
async function shared() {
  const made = new SyntheticTrace();
  const block = made.group("block", { className: "Block" });
  const weight = made.tensor("[4, 3]", { kind: "parameter", path: "block.weight" });
  const bias = made.tensor("[3]", { kind: "parameter", path: "block.bias" });
  const x = made.tensor("[2, 4]", { kind: "external" });
  const a = made.op("matmul", { inputs: [x, weight], group: block });
  const b = made.op("linear", { inputs: [x, weight, bias], group: block });
  const c = made.op("matmul", { inputs: [...a.out, weight] });
  made.tables.ops.duration_ns = [100, 250, 40];
  made.tables.tensors.dtype![b.out[0]!] = made.text("float16");
  const store = new Store(await made.trace());
  const scene = sceneOf(
    { id: `group:${block}`, kind: "group", group: block },
    { id: `op:${c.op}`, kind: "op", op: c.op },
  );
  return { store, scene, block: `group:${block}`, op: `op:${c.op}` };
}

test("a closed group has the sum of the times of its ops, an op its own", async () => {
  const { store, scene, block, op } = await shared();
  const values = boxValues(store, scene, "time");
  expect(values.get(block)).toMatchObject({ value: 350, known: 2, unknown: 0 });
  expect(values.get(op)).toMatchObject({ value: 40 });
});

test("a parameter that two ops of a group read counts once", async () => {
  const { store, scene, block, op } = await shared();
  const values = boxValues(store, scene, "parameters");
  expect(values.get(block)?.value).toBe(15);
  expect(values.get(op)?.value).toBe(12);
});

test("a group with several dtypes has each of them", async () => {
  const { store, scene, block, op } = await shared();
  const values = boxValues(store, scene, "dtype");
  const names = (id: string) => [...values.get(id)!.dtypes].map((code) => store.trace.text(code));
  expect(names(block)).toEqual(["float32", "float16"]);
  expect(names(op)).toEqual(["float32"]);
});

test("what was not recorded is not known, and never 0", async () => {
  const { store, scene, block } = await shared();
  for (const name of ["flops", "saved_bytes", "gradient_norm", "nan_share"] as const) {
    const value = boxValues(store, scene, name).get(block)!;
    expect(value).toMatchObject({ value: Number.NaN, known: 0, unknown: 2 });
  }
});

test("an isolated part of a group counts alone", async () => {
  const { store, scene, block } = await shared();
  store.isolate("ancestors", { kind: "op", op: 0 });
  expect(boxValues(store, scene, "time").get(block)).toMatchObject({ value: 100, known: 1 });
});

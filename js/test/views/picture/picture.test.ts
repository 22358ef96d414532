import { expect, test } from "vitest";
import { Store } from "../../../src/model/state/store.ts";
import { Picture } from "../../../src/views/picture/picture.ts";
import type { TextMeasure } from "../../../src/views/scene/measure.ts";
import type { Scene } from "../../../src/views/scene/scene.ts";
import { encoder } from "../../records/synthetic_nets.ts";

const MEASURE = {
  width: (text: string) => 7 * text.length,
  fit: (text: string) => text,
} as unknown as TextMeasure;

test("what changes nothing in the layout lays nothing out", async () => {
  const store = new Store(await encoder(3).trace());
  store.closeAll();
  const scenes: Scene[] = [];
  const failures: unknown[] = [];
  const picture = new Picture(store, MEASURE);
  picture.listen({
    composed: ({ scene }) => scenes.push(scene),
    failed: (error) => failures.push(error),
  });
  picture.refresh();
  store.update({ showShapes: false, query: "relu" });
  store.select({ kind: "op", op: 1 });
  expect(scenes).toHaveLength(1);
  store.setOpen(0, true);
  expect(scenes).toHaveLength(2);
  expect(scenes[1]!.frames.map((frame) => frame.group)).toEqual([0]);
  expect(failures).toEqual([]);
});

import { expect, test } from "vitest";
import {
  LayoutCancelled,
  type LayoutRunner,
  layoutNested,
  type NestedResult,
} from "../../../src/layout/index.ts";
import { Store } from "../../../src/model/state/store.ts";
import { Picture } from "../../../src/views/picture/picture.ts";
import type { TextMeasure } from "../../../src/views/scene/measure.ts";
import type { Scene } from "../../../src/views/scene/scene.ts";
import { encoder } from "../../records/synthetic_nets.ts";

const MEASURE = {
  width: (text: string) => 7 * text.length,
  fit: (text: string) => text,
} as unknown as TextMeasure;

/** Lays out, but keeps results back while it is held. */
class HeldRunner implements LayoutRunner {
  isHeld = false;
  asked = 0;
  #waiting: { finish: () => void; reject: (error: unknown) => void }[] = [];

  layout(...given: Parameters<LayoutRunner["layout"]>): Promise<NestedResult> {
    this.asked++;
    return new Promise((resolve, reject) => {
      const finish = (): void => resolve(layoutNested(...given));
      if (this.isHeld) {
        this.#waiting.push({ finish, reject });
      } else {
        finish();
      }
    });
  }

  release(): void {
    for (const { finish } of this.#waiting.splice(0)) {
      finish();
    }
  }

  cancelCurrent(): void {
    for (const { reject } of this.#waiting.splice(0)) {
      reject(new LayoutCancelled());
    }
  }

  dispose(): void {}
}

async function shown() {
  const store = new Store(await encoder(3).trace());
  store.closeAll();
  const runner = new HeldRunner();
  const scenes: Scene[] = [];
  const busy: boolean[] = [];
  const failures: unknown[] = [];
  const picture = new Picture(store, MEASURE, runner);
  picture.listen({
    arranged: () => {},
    composed: (scene) => scenes.push(scene),
    busy: (isBusy) => busy.push(isBusy),
    progress: () => {},
    failed: (error) => failures.push(error),
  });
  await picture.refresh();
  return { store, runner, picture, scenes, busy, failures };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

test("a layout that is cancelled leaves the picture, and what is open, as they were", async () => {
  const { store, runner, picture, scenes, busy, failures } = await shown();
  runner.isHeld = true;
  store.openAll();
  expect(busy.at(-1)).toBe(true);
  runner.isHeld = false;
  picture.cancel();
  await settled();
  expect(store.state.open.size).toBe(0);
  expect(scenes.at(-1)!.boxes.length).toBe(scenes[0]!.boxes.length);
  expect(busy.at(-1)).toBe(false);
  expect(failures).toEqual([]);
});

test("of two changes in a row only the second is shown", async () => {
  const { store, runner, scenes, failures } = await shown();
  runner.isHeld = true;
  store.openAll();
  store.closeAll();
  store.setOpen(0, true);
  await settled();
  runner.release();
  await settled();
  expect(scenes).toHaveLength(2);
  expect(scenes[1]!.frames.map((frame) => frame.group)).toEqual([0]);
  expect(failures).toEqual([]);
});

test("what changes nothing in the layout lays nothing out", async () => {
  const { store, scenes } = await shown();
  store.update({ showShapes: false, query: "relu" });
  store.select({ kind: "op", op: 1 });
  await settled();
  expect(scenes).toHaveLength(1);
});

import { expect, test } from "vitest";
import { layoutNested } from "../../../src/layout/index.ts";
import { Store } from "../../../src/model/state/store.ts";
import { arrange, compose } from "../../../src/views/arrange/arrange.ts";
import { noteRoom } from "../../../src/views/scene/drawing_style.ts";
import type { TextMeasure } from "../../../src/views/scene/measure.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

const MEASURE = {
  width: (text: string) => 7 * text.length,
  fit: (text: string) => text,
} as unknown as TextMeasure;

test("the note beside an op that raised is inside the frame around the op", async () => {
  const made = new SyntheticTrace();
  const group = made.group("step 3");
  const { out } = made.op("relu", { group });
  const { op } = made.op("reshape", { group, inputs: out });
  made.tables.ops.raised![op] = 1;
  const store = new Store(await made.trace());
  store.openAll();
  const arrangement = arrange(store, "forward", MEASURE);
  const { boxes, frames } = compose(store, arrangement, layoutNested(arrangement.graph));
  const [box, frame] = [boxes.find((each) => each.op === op)!, frames[0]!];
  expect(noteRoom(box, MEASURE)).toBeGreaterThan(50);
  expect(box.x + box.width / 2 + noteRoom(box, MEASURE)).toBeLessThan(frame.x + frame.width / 2);
});

import { expect, test } from "vitest";
import { frameLabel, orderStack, stackText } from "../../../src/views/names/stack_order.ts";
import { countOpsByLine } from "../../../src/views/source/source_lines.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

const CELL = "/tmp/ipykernel_1/4.py";

/** user → paddle → user → library → paddle, innermost last. */
function mixed() {
  const made = new SyntheticTrace();
  const cell = made.frame(CELL, 2);
  made.tables.frames.cell![cell] = 4;
  const layer = made.frame("paddle/nn/layer.py", 10, "__call__", "paddle");
  const forward = made.frame("/me/model.py", 7, "forward");
  const einops = made.frame("einops.py", 3, "reduce", "library");
  const op = made.frame("paddle/tensor/math.py", 5, "mean", "paddle");
  let stack = -1;
  for (const frame of [cell, layer, forward, einops, op]) stack = made.stack(frame, stack);
  made.add("sources", {
    file: made.text(CELL),
    first_line: 1,
    text: made.text("a\n  y = net(x)"),
    cell: 4,
  });
  made.op("mean", { stack });
  return { made, frames: { cell, layer, forward, einops, op } };
}

test("the user's own frames come first, innermost first", async () => {
  const { made, frames } = mixed();
  const trace = await made.trace();
  expect(orderStack(trace, trace.stackOf(0))).toEqual({
    own: [frames.forward, frames.cell],
    library: [frames.einops],
    paddle: [frames.op, frames.layer],
  });
});

test("where no frame is the user's own, the nearest thing to it is shown", async () => {
  const { made, frames } = mixed();
  const trace = await made.trace();
  expect(orderStack(trace, [frames.op, frames.einops])).toEqual({
    own: [frames.einops],
    library: [],
    paddle: [frames.op],
  });
  expect(orderStack(trace, [frames.op])).toEqual({ own: [frames.op], library: [], paddle: [] });
});

test("a stack is copied as Python prints it, cells by their number", async () => {
  const { made, frames } = mixed();
  const trace = await made.trace();
  expect(frameLabel(trace, frames.cell)).toBe("Cell 4, line 2");
  expect(frameLabel(trace, frames.forward)).toBe("model.py, line 7");
  expect(stackText(trace, [frames.forward, frames.cell])).toBe(
    [
      "Traceback (most recent call last):",
      "  Cell 4, line 2, in <module>",
      "    y = net(x)",
      '  File "/me/model.py", line 7, in forward',
    ].join("\n"),
  );
});

test("a line counts the ops that passed through it, each once", async () => {
  const made = new SyntheticTrace();
  const outer = made.stack(made.frame(CELL, 9));
  const once = made.stack(made.frame(CELL, 5, "recurse"), outer);
  const twice = made.stack(made.frame(CELL, 5, "recurse"), once);
  made.op("relu", { stack: once });
  made.op("relu", { stack: twice });
  made.op("mean", { stack: outer });
  made.op("sum", {});
  const counts = countOpsByLine(await made.trace());
  expect([...counts.get(made.text(CELL))!]).toEqual(
    expect.arrayContaining([
      [9, 3],
      [5, 2],
    ]),
  );
});

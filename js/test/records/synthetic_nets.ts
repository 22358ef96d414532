/** Nets made by hand: a chain of ops, and a small encoder. */

import { SyntheticTrace } from "./synthetic.ts";

/** A chain of ops without layers. */
export function chain(length: number, name = "relu"): SyntheticTrace {
  const made = new SyntheticTrace();
  let tensor = made.tensor("[4, 16]", { kind: "external" });
  for (let i = 0; i < length; i++) {
    tensor = made.op(name, { inputs: [tensor], hasGrad: false }).out[0]!;
  }
  return made;
}

/**
 * A small encoder: an embedding, `blocks` blocks with a residual each, a head and a loss, one line
 * of a notebook cell each, and a backward call.
 */
export function encoder(blocks: number): SyntheticTrace {
  const made = new SyntheticTrace();
  const cell = "/tmp/ipykernel_1/4.py";
  made.add("sources", {
    file: made.text(cell),
    first_line: 1,
    text: made.text("x = data()\ny = net(x)\nloss = y.mean()\nloss.backward()\n"),
    cell: 4,
  });
  const atNet = made.stack(made.frame(cell, 2));
  const atLoss = made.stack(made.frame(cell, 3));
  const inLinear = made.stack(
    made.frame("paddle/nn/layer/common.py", 190, "forward", "paddle"),
    atNet,
  );
  const net = made.group("net", { className: "Encoder" });
  const linear = (group: number, path: string, input: number): number =>
    made.op("linear", {
      group,
      stack: inLinear,
      inputs: [
        input,
        made.tensor("[16, 16]", { kind: "parameter", path: `${path}.weight` }),
        made.tensor("[16]", { kind: "parameter", path: `${path}.bias` }),
      ],
      gradName: "LinearGradNode",
    }).out[0]!;
  const embed = made.group("embed", { parent: net, className: "Linear" });
  let x = linear(embed, "embed", made.tensor("[4, 16]", { kind: "external" }));
  for (let i = 0; i < blocks; i++) {
    const block = made.group(`blocks.${i}`, { parent: net, className: "Block", structure: 7 });
    const first = made.group("fc1", { parent: block, className: "Linear", structure: 8 });
    const hidden = linear(first, `blocks.${i}.fc1`, x);
    const active = made.op("gelu", { group: block, inputs: [hidden], stack: atNet }).out[0]!;
    const second = made.group("fc2", { parent: block, className: "Linear", structure: 8 });
    const back = linear(second, `blocks.${i}.fc2`, active);
    x = made.op("add", { group: block, inputs: [x, back], stack: atNet }).out[0]!;
  }
  const head = made.group("head", { parent: net, className: "Linear" });
  x = linear(head, "head", x);
  const loss = made.op("mean", { inputs: [x], shape: "[]", stack: atLoss });
  made.backward(loss.gradNode);
  return made;
}

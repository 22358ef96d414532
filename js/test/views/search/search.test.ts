import { expect, test } from "vitest";
import { parseQuery, SearchIndex } from "../../../src/views/search/search_index.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";
import { encoder } from "../../records/synthetic_nets.ts";

async function indexOf(made: SyntheticTrace) {
  const trace = await made.trace();
  const index = new SearchIndex(trace);
  return { trace, find: (query: string) => index.find(query) };
}

test("a query is split into words, shapes and lines", () => {
  expect(parseQuery("  Relu [4, 16] cell 4:12 Model.py:7 #3 cell 5")).toEqual([
    { kind: "text", text: "relu" },
    { kind: "text", text: "[4,16]" },
    { kind: "cell", cell: 4, line: 12 },
    { kind: "line", file: "model.py", line: 7 },
    { kind: "key", op: 3 },
    { kind: "cell", cell: 5, line: 0 },
  ]);
  expect(parseQuery("   ")).toEqual([]);
});

test("an op is found by its name, its layer, its layer's class and its grad node", async () => {
  const { trace, find } = await indexOf(encoder(3));
  const named = (name: string) => (op: number) => trace.opLabel(op) === name;
  expect(find("gelu")).toHaveLength(3);
  expect(find("gelu").every(named("gelu"))).toBe(true);
  expect(find("blocks.1")).toHaveLength(4);
  expect(find("blocks.1.fc2")).toHaveLength(1);
  expect(find("Block add")).toHaveLength(3);
  expect(find("geluGRAD")).toEqual(find("gelu"));
  expect(find("nothing of the kind")).toEqual([]);
  expect(find("")).toEqual([]);
});

test("an op is found by the pointer of its grad node, as Paddle's dumps and log have it", async () => {
  const synthetic = new SyntheticTrace();
  synthetic.op("relu");
  const { op, gradNode } = synthetic.op("matmul");
  const trace = await synthetic.trace();
  const pointer = `0x${trace.at("grad_nodes", "address", gradNode).toString(16)}`;
  expect(new SearchIndex(trace).find(pointer)).toEqual([op]);
  expect(new SearchIndex(trace).find(pointer.slice(0, -1))).toEqual([]);
});

test("a path may begin with the model's name or its class", async () => {
  const made = encoder(12);
  const { find } = await indexOf(made);
  expect(find("net.blocks.1.fc2")).toEqual(find("blocks.1.fc2"));
  expect(find("Encoder.blocks.11")).toEqual(find("blocks.11"));
  expect(find("net.blocks.11")).toHaveLength(4);
  expect(find("net.head.bias")).toEqual(find("head.bias"));
  // As one types on: the whole net, then what begins so.
  expect(find("net.")).toEqual(find("net"));
  expect(find("net.blocks.1")).toHaveLength(3 * 4);
  // Another model, or no such path in it; a model's name is no path of its own.
  expect(find("other.blocks.1")).toEqual([]);
  expect(find("net.locks.1")).toEqual([]);
  expect(find("net.net")).toEqual([]);
});

test("of two models with equal paths the one that is named is found, in its updates as well", async () => {
  const made = new SyntheticTrace();
  const read = ["generator", "trainer.critic"].map((path) => {
    const model = made.group(path, { className: "Mlp" });
    const weight = made.tensor("[4]", { kind: "parameter", path: "fc.weight" });
    return { weight, op: made.op("linear", { group: model, inputs: [weight] }).op };
  });
  const [generator, critic] = read.map(({ weight, op }) => [
    op,
    made.op("adam_", { inputs: [weight], phase: "optimizer" }).op,
  ]);
  const { find } = await indexOf(made);
  expect(find("generator.fc.weight")).toEqual(generator);
  expect(find("trainer.critic.fc")).toEqual(critic);
  expect(find("critic.fc.weight")).toEqual(critic);
  expect(find("mlp.fc.weight")).toEqual(find("fc.weight"));
});

test("an op is found by a parameter, a dtype and a shape, with or without spaces", async () => {
  const { find } = await indexOf(encoder(2));
  expect(find("head.bias")).toHaveLength(1);
  expect(find("float32").length).toBeGreaterThan(5);
  expect(find("[16,16]")).toEqual(find("[16, 16]"));
  expect(find("[16, 16]")).toHaveLength(6);
});

test("a line finds every op whose stack passes through it, a file those that stand in it", async () => {
  const made = new SyntheticTrace();
  const outer = made.frame("/home/me/train.py", 30);
  made.tables.frames.cell![outer] = 4;
  const called = made.stack(outer);
  const inner = made.stack(made.frame("C:\\me\\Model.py", 7, "forward"), called);
  made.op("relu", { stack: inner });
  made.op("mean", { stack: called });
  made.op("sum", {});
  const { find } = await indexOf(made);
  expect(find("model.py:7")).toEqual([0]);
  expect(find("train.py:30")).toEqual([0, 1]);
  expect(find("train.py:3")).toEqual([]);
  expect(find("cell 4")).toEqual([0, 1]);
  expect(find("Cell 4:30")).toEqual([0, 1]);
  expect(find("cell 4, line 31")).toEqual([]);
  expect(find("model.py")).toEqual([0]);
  // A folder's name is not what somebody looks for.
  expect(find("home")).toEqual([]);
  expect(find("#2")).toEqual([2]);
  expect(find("#99")).toEqual([]);
});

test("Paddle's own tensor names must fit as a whole", async () => {
  const made = new SyntheticTrace();
  const weight = made.tensor("[3]", { kind: "parameter" });
  made.tables.tensors.name![weight] = made.text("conv2d_0.w_0");
  made.op("adam_", { inputs: [weight], phase: "optimizer" });
  const { find } = await indexOf(made);
  expect(find("conv2d")).toEqual([]);
  expect(find("Conv2d_0.w_0")).toEqual([0]);
});

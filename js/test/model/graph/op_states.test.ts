import { expect, test } from "vitest";
import { OP_STATES, opStates } from "../../../src/model/graph/op_states.ts";
import { givenTensors } from "../../../src/model/visible/parameters.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

test("ops that read what no op made are told from all others", async () => {
  const made = new SyntheticTrace();
  const data = made.tensor("[4]");
  const weight = made.tensor("[4]", { kind: "parameter", path: "weight" });
  const reads = [[data], [data, weight], [weight, weight]];
  const first = reads.map((inputs) => made.op("op", { inputs }).out[0]!);
  const inner = [[], [first[0]!], [first[1]!, first[2]!], [first[1]!, first[1]!]];
  for (const inputs of [...inner, [first[0]!, data], [weight, first[0]!, first[1]!]]) {
    made.op("op", { inputs });
  }
  const trace = await made.trace();
  const given = Array.from({ length: trace.opCount }, (_, op) => givenTensors(trace, op).length);
  expect(given).toEqual([1, 2, 1, 0, 0, 0, 0, 1, 1]);
});

test("an op that reads more than two tensors is looked at, and what it says stays the same", async () => {
  const made = new SyntheticTrace();
  const out = Array.from({ length: 3 }, () => made.op("op").out[0]!);
  const { op } = made.op("concat", { inputs: out });
  const trace = await made.trace();
  expect(givenTensors(trace, op)).toEqual([]);
});

test("an op writes in place where it makes a later version, and one that raised says that", async () => {
  const made = new SyntheticTrace();
  const before = made.op("ones").out[0]!;
  const plain = made.op("relu", { inputs: [before] });
  const written = made.op("add_", { inputs: [before] });
  const failed = made.op("exp_", { inputs: [before] });
  for (const [tensor, version] of [
    [plain.out[0]!, 0],
    [written.out[0]!, 1],
    [failed.out[0]!, 2],
  ] as const) {
    made.tables.tensors.previous![tensor] = before;
    made.tables.tensors.version![tensor] = version;
  }
  made.tables.ops.raised![failed.op] = 1;
  const trace = await made.trace();
  const states = Array.from(opStates(trace), (state) => OP_STATES[state]);
  expect(states).toEqual(["normal", "normal", "in_place", "raised"]);
});

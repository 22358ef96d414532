import { expect, test } from "vitest";
import { differenceOf } from "../../../src/model/graph/odd_siblings.ts";
import { Store } from "../../../src/model/state/store.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

/** Blocks of two ops in a net; those at `odd` have one op more. */
async function stack(count: number, odd: readonly number[]): Promise<Store> {
  const made = new SyntheticTrace();
  const net = made.group("net");
  let tensor = made.tensor("[4]");
  for (let at = 0; at < count; at++) {
    const isOdd = odd.includes(at);
    const block = made.group(`blocks.${at}`, {
      parent: net,
      className: "Block",
      structure: isOdd ? -1 : 7,
    });
    for (const name of ["matmul", ...(isOdd ? ["dropout"] : []), "relu"]) {
      tensor = made.op(name, { group: block, inputs: [tensor] }).out[0]!;
    }
  }
  return new Store(await made.trace());
}

test("the one block that is built differently is told, with what it has", async () => {
  const { oddSiblings, hierarchy } = await stack(9, [4]);
  expect(oddSiblings.sentence(5)).toBe(
    "1 of 9 is built differently: it has dropout, which its siblings have not.",
  );
  expect(oddSiblings.familyOf(5)).toEqual({ size: 9, alike: 8, typical: 1 });
  expect(oddSiblings.sentence(4)).toBe("");
  // Those before and after it are two runs, and one family.
  expect(Array.from(hierarchy.runMembers(1))).toEqual([1, 2, 3, 4]);
  expect(Array.from(hierarchy.runMembers(6))).toEqual([6, 7, 8, 9]);
  expect([oddSiblings.alikeSentence(1), oddSiblings.alikeSentence(6)]).toEqual([
    "8 of 9 siblings are alike.",
    "8 of 9 siblings are alike.",
  ]);
});

test("of several odd ones each is told", async () => {
  const { oddSiblings } = await stack(12, [0, 5]);
  expect(oddSiblings.sentence(1)).toBe(
    "2 of 12 are built differently: this one has dropout, which its siblings have not.",
  );
  expect(oddSiblings.familyOf(6)?.alike).toBe(10);
});

test("namesakes that are members of no list are no siblings", async () => {
  const made = new SyntheticTrace();
  let tensor = made.tensor("[4]");
  const net = made.group("step 1", { kind: "turn" });
  for (const [name, ops] of [
    ["gen", ["linear", "tanh"]],
    ["dis", ["linear", "relu"]],
    ["dis", ["linear", "relu"]],
    ["dis", ["linear", "relu"]],
  ] as const) {
    const structure = name === "dis" ? 7 : -1;
    const group = made.group(name, { parent: net, className: "Sequential", structure });
    for (const op of ops) {
      tensor = made.op(op, { group, inputs: [tensor] }).out[0]!;
    }
  }
  const { oddSiblings } = new Store(await made.trace());
  expect([1, 2, 3, 4].map((group) => oddSiblings.familyOf(group))).toEqual(
    new Array(4).fill(undefined),
  );
});

test.each([
  ["too few are alike", 3, [1]],
  ["too many differ", 6, [0, 3]],
  ["all are alike", 8, []],
] as const)("nobody is odd where %s", async (_, count, odd) => {
  const { oddSiblings } = await stack(count, odd);
  for (let group = 1; group <= count; group++) {
    expect(oddSiblings.familyOf(group)).toBeUndefined();
    expect(oddSiblings.alikeSentence(group)).toBe("");
  }
});

test.each([
  [["a"], ["a", "b"], "lacks b, which its siblings have"],
  [["a", "a", "b"], ["a", "b"], "has 2 × a where they have 1"],
  [["b", "a"], ["a", "b"], "runs the same ops in another order"],
  [["c", "d", "e", "f", "g"], [], "has c, d, e and 2 more, which its siblings have not"],
  [
    ["a", "c"],
    ["a", "b"],
    "has c, which its siblings have not; it lacks b, which its siblings have",
  ],
] as const)("%j beside %j: it %s", (own, usual, sentence) => {
  expect(differenceOf(own, usual, [], [])).toBe(sentence);
});

test("with the same ops, the classes of layers tell, or else the edges", () => {
  expect(differenceOf(["a"], ["a"], ["ReLU6"], ["ReLU"])).toBe(
    "has ReLU6, which its siblings have not; it lacks ReLU, which its siblings have",
  );
  expect(differenceOf(["a"], ["a"], ["ReLU"], ["ReLU"])).toBe(
    "connects the same ops in another way",
  );
});

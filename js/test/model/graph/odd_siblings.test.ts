import { expect, test } from "vitest";
import { Store } from "../../../src/model/state/store.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

/** Nine blocks in a net, of which the third has one op more. */
async function blocks(): Promise<Store> {
  const made = new SyntheticTrace();
  const net = made.group("net");
  let tensor = made.tensor("[4]");
  for (let at = 0; at < 9; at++) {
    const group = made.group(`blocks.${at}`, { parent: net, structure: at === 2 ? -1 : 7 });
    for (const name of ["matmul", ...(at === 2 ? ["dropout"] : []), "relu"]) {
      tensor = made.op(name, { group, inputs: [tensor] }).out[0]!;
    }
    const difference = at === 2 ? "has dropout, which its siblings have not" : "";
    const row = { group, typical: 1, siblings: 9, alike: 8, difference: made.text(difference) };
    made.add("odd_siblings", row);
  }
  return new Store(await made.trace());
}

test("the one block that is built differently is told, with what it has", async () => {
  const { oddSiblings, hierarchy } = await blocks();
  expect(oddSiblings.sentence(3)).toBe(
    "1 of 9 is built differently: it has dropout, which its siblings have not.",
  );
  expect(oddSiblings.familyOf(3)).toEqual({ size: 9, alike: 8, typical: 1 });
  expect(oddSiblings.alikeSentence(3)).toBe("");
  // Those before and after it are two runs, and one family.
  expect(Array.from(hierarchy.runMembers(1))).toEqual([1, 2]);
  expect(Array.from(hierarchy.runMembers(4))).toEqual([4, 5, 6, 7, 8, 9]);
});

test("of the others it is told that they are alike, and nothing of groups in no list", async () => {
  const { oddSiblings } = await blocks();
  expect([oddSiblings.sentence(1), oddSiblings.familyOf(1)]).toEqual(["", undefined]);
  expect(oddSiblings.alikeSentence(9)).toBe("8 of 9 siblings are alike.");
  expect([oddSiblings.sentence(0), oddSiblings.alikeSentence(0)]).toEqual(["", ""]);
});

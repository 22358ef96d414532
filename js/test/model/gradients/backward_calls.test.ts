import { expect, test } from "vitest";
import {
  callsAround,
  firstCall,
  membersOf,
  outermostCall,
} from "../../../src/model/gradients/backward_calls.ts";
import { BACKWARD_KINDS, SCOPE_KINDS } from "../../../src/trace/protocol.ts";
import { SyntheticTrace } from "../../records/synthetic.ts";

/** A call on one op; inside of it, in a PyLayer's backward, one on four; then one that never ran. */
function recomputed(): SyntheticTrace {
  const made = new SyntheticTrace();
  const chain = (names: readonly string[]): number => {
    let tensor = made.tensor("[4]", { kind: "external" });
    let node = -1;
    for (const name of names) {
      const step = made.op(name, { inputs: [tensor] });
      [tensor, node] = [step.out[0]!, step.gradNode];
    }
    return node;
  };
  const scope = (kind: string, parent: number, call: number): number =>
    made.add("scopes", {
      kind: SCOPE_KINDS.indexOf(kind as (typeof SCOPE_KINDS)[number]),
      name: made.text(""),
      parent,
      layer: -1,
      op: -1,
      backward_call: call,
      thread: 0,
    });
  const outer = made.backward(chain(["mean"]));
  const pylayer = scope("pylayer", scope("backward", -1, outer), -1);
  const inner = made.backward(chain(["linear", "relu", "linear", "relu"]));
  made.tables.backward_calls.scope![inner] = pylayer;
  const left = made.backward(chain(["a", "b", "c", "d", "e", "f"]));
  made.tables.backward_calls.kind![left] = BACKWARD_KINDS.indexOf("remaining");
  return made;
}

test("the first call is the program's own, whatever ran inside of it or never", async () => {
  const trace = await recomputed().trace();
  expect(Array.from(callsAround(trace))).toEqual([-1, 0, -1]);
  expect(firstCall(trace)).toBe(0);
  expect([0, 1, 2].map((call) => outermostCall(trace, call))).toEqual([0, 0, 2]);
});

test("calls that say they are inside of themselves are the program's own", async () => {
  const made = recomputed();
  made.tables.backward_calls.scope![0] = 0;
  const trace = await made.trace();
  expect([0, 1].map((call) => outermostCall(trace, call))).toEqual([0, 0]);
  expect(firstCall(trace)).toBe(0);
});

test("a call shows what the calls inside of it ran", async () => {
  const trace = await recomputed().trace();
  const shown = (call: number): string => Array.from(membersOf(trace, call)).join("");
  expect(shown(0)).toBe("11111000000");
  expect(shown(1)).toBe("01111000000");
  expect(shown(2)).toBe("00000111111");
});

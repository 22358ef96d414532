import { expect, test } from "vitest";
import { Store } from "../../../src/model/state/store.ts";
import { cutAndFailed, plant, troubled } from "../../records/planted.ts";
import type { SyntheticTrace } from "../../records/synthetic.ts";
import { encoder } from "../../records/synthetic_nets.ts";

const opAlone = (op: number) => ({ op, gradNode: -1, group: -1, groups: [] });
const nodeAlone = (gradNode: number) => ({ op: -1, gradNode, group: -1, groups: [] });
const groupAlone = (group: number) => ({ op: -1, gradNode: -1, group, groups: [group] });

async function storeOf(made: SyntheticTrace): Promise<Store> {
  return new Store(await made.trace());
}

const told = (marks: readonly { role: string; finding: { key: number } }[]): string[] =>
  marks.map(({ role, finding }) => `${finding.key} ${role}`);

test("findings come in the order of their table, and are counted by severity", async () => {
  const { findings } = await storeOf(troubled());
  expect(findings.all.map(({ kind }) => kind)).toEqual([
    "nan-origin",
    "broadcast-surprise",
    "unused",
  ]);
  expect(findings.counts()).toEqual([
    { severity: "error", count: 1 },
    { severity: "warning", count: 1 },
    { severity: "info", count: 1 },
  ]);
});

test("an op that a finding leads to is marked, also where no mark says so", async () => {
  const made = encoder(1);
  plant(made, { op: 3 });
  const { findings } = await storeOf(made);
  expect(told(findings.marksOf(opAlone(3), "ops", false))).toEqual(["0 here"]);
  expect(findings.marksOf(opAlone(2), "ops", false)).toEqual([]);
});

test("a mark of an op and its own grad node means the grad node; pairs share what is telling", async () => {
  const made = encoder(1);
  const node = made.tables.grad_nodes.op!.indexOf(2);
  plant(made, {
    severity: "error",
    marks: [
      { role: "failed", op: 2, gradNode: node },
      { role: "path", gradNode: node },
    ],
  });
  const { findings } = await storeOf(made);
  expect(told(findings.marksOf(nodeAlone(node), "grad_nodes", false))).toEqual([
    "0 failed",
    "0 path",
  ]);
  // In a ladder the op stands beside it; alone it has to tell for both.
  expect(findings.marksOf(opAlone(2), "ops", false)).toEqual([]);
  expect(told(findings.marksOf(opAlone(2), "ops", true))).toEqual(["0 failed"]);
  expect(findings.tellsOfFailure).toBe(true);
});

test("every group around a mark carries it once, the worst finding first", async () => {
  const made = encoder(2);
  plant(made, { severity: "info", op: 2 });
  plant(made, {
    severity: "error",
    marks: [
      { role: "path", op: 1 },
      { role: "path", op: 2 },
    ],
  });
  const { findings, trace } = await storeOf(made);
  const [net] = trace.groupPath(trace.groupOfOp(2));
  expect(told(findings.marksOf(groupAlone(net!), "ops", false))).toEqual(["1 path", "0 here"]);
});

test("who reads what a cut op made is where gradients end", async () => {
  const made = cutAndFailed();
  const { findings, trace } = await storeOf(made);
  const head = trace.gradNodesOfOp(5)[0]!;
  expect(findings.cutBehind(head)?.finding.kind).toBe("gradient-cut");
  expect(findings.cutBehind(trace.gradNodesOfOp(6)[0]!)).toBeUndefined();
});

test("a trace without findings marks nothing", async () => {
  const store = await storeOf(encoder(1));
  expect(store.finding).toBeUndefined();
  expect(store.findings.marksOf(opAlone(0), "ops", true)).toEqual([]);
});

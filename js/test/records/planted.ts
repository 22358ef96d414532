/** Traces with findings and gradients, as the checks and `--grads` would leave them. */
import type { MarkRole, Severity } from "../../src/model/graph/findings.ts";
import { EDGE_KINDS, MARK_ROLES, SEVERITIES } from "../../src/trace/protocol.ts";
import type { Rows } from "./pack.ts";
import type { SyntheticTrace } from "./synthetic.ts";
import { encoder } from "./synthetic_nets.ts";

export interface PlantedFinding {
  kind?: string;
  severity?: Severity;
  message?: string;
  advice?: string;
  line?: number;
  op?: number;
  gradNode?: number;
  marks?: readonly { role: Exclude<MarkRole, "here">; op?: number; gradNode?: number }[];
}

export const CELL = "/tmp/ipykernel_1/4.py";
export const SENTENCE =
  "`loss = y.mean()` (cell 4, line 3) combined shapes [16, 1] and [16] into [16, 16].";

export function plant(made: SyntheticTrace, planted: PlantedFinding): number {
  const finding = made.add("findings", {
    kind: made.text(planted.kind ?? "broadcast-surprise"),
    severity: SEVERITIES.indexOf(planted.severity ?? "warning"),
    message: made.text(planted.message ?? SENTENCE),
    advice: made.text(planted.advice ?? "Give both sides one shape: `net(x).squeeze(-1)`."),
    file: made.text(CELL),
    line: planted.line ?? 3,
    cell: 4,
    op: planted.op ?? -1,
    grad_node: planted.gradNode ?? -1,
  });
  for (const { role, op = -1, gradNode = -1 } of planted.marks ?? []) {
    made.add("finding_marks", { finding, role: MARK_ROLES.indexOf(role), op, grad_node: gradNode });
  }
  return finding;
}

/** Bits of a 32-bit float as a signed integer. */
export function bits(value: number): number {
  return new Int32Array(Float32Array.of(value).buffer)[0]!;
}

/** Statistics of every gradient, which shrinks by `factor` from edge to edge along the way. */
export function withGradients(made: SyntheticTrace, factor = 0.6, call = 0): SyntheticTrace {
  const { source, target, shape } = made.tables.grad_edges;
  const norms = new Map<number, number>();
  source!.forEach((from, edge) => {
    norms.set(edge, (norms.get(-1 - from) ?? 1) * factor);
  });
  // The tape is made in the order of the forward: the last node comes first in the backward.
  const normOfNode = new Map<number, number>();
  for (let node = made.tables.grad_nodes.name!.length - 1; node >= 0; node--) {
    const norm = normOfNode.get(node) ?? 1;
    source!.forEach((from, edge) => {
      if (from === node) {
        norms.set(edge, norm * factor);
        const to = target![edge]!;
        normOfNode.set(to, Math.max(normOfNode.get(to) ?? 0, norm * factor));
      }
    });
  }
  source!.forEach((from, edge) => {
    const norm = norms.get(edge)!;
    const row = made.add("grad_stats", {
      backward_call: call,
      grad_node: from,
      grad_edge: edge,
      shape: shape![edge]!,
      dtype: made.text("float32"),
      elements: 64,
      zeros: 9,
      nans: 0,
      infs: 0,
      smallest: bits(-norm / 2),
      largest: bits(norm / 2),
      mean: bits(norm / 100),
      norm: bits(norm),
    });
    const middle = Math.floor(Math.log2(norm / 4));
    for (let away = -3; away <= 2; away++) {
      for (const isNegative of [0, 1]) {
        made.add("grad_histograms", {
          grad_stat: row,
          exponent: middle + away,
          is_negative: isNegative,
          count: 6 - Math.abs(away) - isNegative,
        });
      }
    }
  });
  return made;
}

/** An encoder whose loss turns NaN in a block, whose backward fails, and that has a cut. */
export function troubled(blocks = 3): SyntheticTrace {
  const made = withGradients(encoder(blocks));
  const cells = made.tables.frames.file!;
  cells.forEach((file, frame) => {
    if (file === made.text(CELL)) made.tables.frames.cell![frame] = 4;
  });
  plant(made, {
    kind: "nan-origin",
    severity: "error",
    message:
      "`y = net(x)` (cell 4, line 2) made the first NaN: `log` of a value below zero, 12 of 64 elements.",
    advice: "Keep the argument above zero: `paddle.log(x.clip(min=1e-6))`.",
    line: 2,
    op: 2,
    marks: [
      { role: "origin", op: 2 },
      ...[3, 4, 5, 6, 7, 8].map((op) => ({ role: "path" as const, op })),
    ],
  });
  plant(made, { op: made.tables.ops.name!.length - 1, marks: [] });
  plant(made, {
    kind: "unused",
    severity: "info",
    message: "The graph of `y` (cell 4, line 2) was built and never used.",
    line: 2,
  });
  return made;
}

/** A block whose output is detached before the head, and a backward call that failed at the head. */
export function cutAndFailed(): SyntheticTrace {
  const made = encoder(1);
  const { op_edges, grad_edges, grad_nodes, backward_members, backward_calls } = made.tables;
  const [block, head] = [4, 5];
  const [blockNode, headNode] = [block, head].map((op) => grad_nodes.op!.indexOf(op));
  op_edges.target!.forEach((target, edge) => {
    if (target === head) op_edges.kind![edge] = EDGE_KINDS.indexOf("detach");
  });
  keepRows(grad_edges, (row) => grad_edges.target![row] !== blockNode);
  keepRows(backward_members, (row) => backward_members.grad_node![row]! >= headNode!);
  backward_calls.error![0] = made.text("RuntimeError: (PreconditionNotMet) saved tensor changed.");
  plant(made, {
    kind: "inplace-modified",
    severity: "error",
    message:
      "`h[1:2] = 3.3` (cell 4, line 3) modified in place a tensor that `y = net(x)` (cell 4, line 2) saved for its backward.",
    gradNode: headNode!,
    op: head,
    marks: [
      { role: "failed", gradNode: headNode! },
      { role: "origin", op: 6 },
    ],
  });
  plant(made, { kind: "gradient-cut", op: block, marks: [{ role: "cut", op: block }] });
  return withGradients(made, 0.01);
}

function keepRows(rows: Rows, isKept: (row: number) => boolean): void {
  const kept = Array.from(Object.values(rows)[0]!.keys()).filter(isKept);
  const columns = Object.fromEntries(
    Object.entries(rows).map(([name, values]) => [name, kept.map((row) => values[row]!)]),
  );
  Object.assign(rows, columns);
}

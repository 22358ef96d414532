/** Traces made by hand, table by table, as Python would send them. */

import { RowsByKey } from "../src/model/csr.ts";
import { Trace } from "../src/model/trace.ts";
import { unpack } from "../src/model/unpack.ts";
import {
  BACKWARD_KINDS,
  EDGE_KINDS,
  FRAME_KINDS,
  GROUP_KINDS,
  type Origin,
  PHASES,
  ROLES,
  SCOPE_KINDS,
  TABLES,
  type TableName,
  TENSOR_KINDS,
} from "../src/protocol.ts";
import { pack, type Rows } from "./pack.ts";

export interface OpOptions {
  group?: number;
  phase?: (typeof PHASES)[number];
  inputs?: number[];
  outputs?: number;
  shape?: string;
  stack?: number;
  isPylayer?: boolean;
  /** Whether a grad node is made for it; true unless said otherwise. */
  hasGrad?: boolean;
  gradName?: string;
}

/** Grows a trace op by op; grad nodes, data-flow edges and counts follow by themselves. */
export class SyntheticTrace {
  readonly tables: Record<TableName, Rows>;
  readonly strings: string[] = [""];
  readonly origin: Partial<Origin> = {
    title: "Cell 4",
    paddle: "3.3.1",
    duration_ns: 38_000_000,
    notices: [],
  };
  #codes = new Map<string, number>([["", 0]]);
  /** Grad node that made a tensor's value: where its gradient flows. */
  #gradNodeOfTensor = new Map<number, number>();

  constructor() {
    this.tables = Object.fromEntries(
      Object.entries(TABLES).map(([name, columns]) => [
        name,
        Object.fromEntries(columns.map((column) => [column, []])),
      ]),
    ) as unknown as Record<TableName, Rows>;
  }

  text(text: string): number {
    let code = this.#codes.get(text);
    if (code === undefined) {
      code = this.strings.push(text) - 1;
      this.#codes.set(text, code);
    }
    return code;
  }

  add(table: TableName, row: Record<string, number>): number {
    const rows = this.tables[table];
    const columns = TABLES[table] as readonly string[];
    for (const column of columns) {
      rows[column]!.push(row[column] ?? 0);
    }
    return rows[columns[0]!]!.length - 1;
  }

  frame(
    file: string,
    line: number,
    functionName = "<module>",
    kind: (typeof FRAME_KINDS)[number] = "user",
  ): number {
    return this.add("frames", {
      file: this.text(file),
      function: this.text(functionName),
      line,
      end_line: line,
      column: -1,
      end_column: -1,
      kind: FRAME_KINDS.indexOf(kind),
      cell: -1,
    });
  }

  stack(frame: number, caller = -1): number {
    return this.add("stacks", { frame, caller });
  }

  group(
    label: string,
    options: {
      parent?: number;
      className?: string;
      kind?: (typeof GROUP_KINDS)[number];
      structure?: number;
    } = {},
  ): number {
    const { parent = -1, className = "Layer", kind = "layer", structure = -1 } = options;
    const above = parent >= 0 ? this.strings[this.tables.groups.path![parent]!]! : "";
    const scopeKind = (SCOPE_KINDS as readonly string[]).indexOf(kind);
    const scope =
      scopeKind < 0
        ? -1
        : this.add("scopes", {
            kind: scopeKind,
            name: this.text(label),
            parent: parent >= 0 ? this.tables.groups.scope![parent]! : -1,
            layer: -1,
            op: -1,
            backward_call: -1,
          });
    return this.add("groups", {
      kind: GROUP_KINDS.indexOf(kind),
      label: this.text(label),
      path: this.text(above ? `${above}.${label}` : label),
      class: this.text(className),
      parent,
      scope,
      structure,
      op_count: 0,
      first_op: -1,
    });
  }

  tensor(
    shape: string,
    options: { kind?: (typeof TENSOR_KINDS)[number]; path?: string; producer?: number } = {},
  ): number {
    return this.add("tensors", {
      dtype: this.text("float32"),
      shape: this.text(shape),
      place: this.text("cpu"),
      bytes: 96,
      kind: TENSOR_KINDS.indexOf(options.kind ?? "activation"),
      producer: options.producer ?? -1,
      previous: -1,
      detached_from: -1,
      path: this.text(options.path ?? ""),
    });
  }

  /** @returns the op's key and its output tensors */
  op(name: string, options: OpOptions = {}): { op: number; out: number[]; gradNode: number } {
    const { group = -1, phase = "forward", inputs = [], outputs = 1, shape = "[4, 16]" } = options;
    const op = this.add("ops", {
      name: this.text(name),
      scope: group >= 0 ? this.tables.groups.scope![group]! : -1,
      stack: options.stack ?? -1,
      thread: 1,
      start_ns: 1000 * this.tables.ops.name!.length,
      duration_ns: 900,
      phase: PHASES.indexOf(phase),
      is_pylayer: options.isPylayer ? 1 : 0,
    });
    this.add("op_groups", { group });
    this.add("op_frames", {
      frame: options.stack === undefined ? -1 : this.tables.stacks.frame![options.stack]!,
    });
    for (let at = group; at >= 0; at = this.tables.groups.parent![at]!) {
      this.tables.groups.op_count![at]!++;
      if (this.tables.groups.first_op![at]! < 0) {
        this.tables.groups.first_op![at] = op;
      }
    }
    inputs.forEach((tensor, slot) => {
      this.add("uses", { op, tensor, role: ROLES.indexOf("input"), slot });
      const producer = this.tables.tensors.producer![tensor]!;
      if (producer >= 0) {
        this.add("op_edges", {
          source: producer,
          target: op,
          tensor,
          slot,
          kind: EDGE_KINDS.indexOf("data"),
        });
      }
    });
    const out = Array.from({ length: outputs }, (_, slot) => {
      const tensor = this.tensor(shape, { producer: op });
      this.add("uses", { op, tensor, role: ROLES.indexOf("output"), slot });
      return tensor;
    });
    let gradNode = -1;
    if (options.hasGrad ?? phase === "forward") {
      gradNode = this.gradNode(options.gradName ?? `${camel(name)}GradNode`, { op, group });
      inputs.forEach((tensor, slot) => {
        const target = this.#gradNodeOf(tensor, group);
        if (target >= 0) {
          this.add("grad_edges", {
            source: gradNode,
            target,
            slot,
            dtype: this.text("float32"),
            shape: this.tables.tensors.shape![tensor]!,
          });
        }
      });
      for (const tensor of out) {
        this.#gradNodeOfTensor.set(tensor, gradNode);
      }
    }
    return { op, out, gradNode };
  }

  gradNode(name: string, options: { op?: number; group?: number; parameter?: number }): number {
    this.add("grad_node_groups", { group: options.group ?? -1 });
    return this.add("grad_nodes", {
      name: this.text(name),
      address: 0x7f0000000000 + 64 * this.tables.grad_nodes.name!.length,
      op: options.op ?? -1,
      parameter: options.parameter ?? -1,
      scope: -1,
    });
  }

  /** A backward call over every grad node made so far. */
  backward(root: number, options: { error?: string } = {}): number {
    const call = this.add("backward_calls", {
      kind: BACKWARD_KINDS.indexOf("Tensor.backward"),
      stack: -1,
      scope: -1,
      ops_before: this.tables.ops.name!.length,
      error: this.text(options.error ?? ""),
    });
    this.add("grad_roots", { backward_call: call, grad_node: root });
    const reached = new Set([root]);
    const edges = this.tables.grad_edges;
    const handsTo = RowsByKey.index(edges.source!, this.tables.grad_nodes.name!.length);
    for (const node of reached) {
      for (const edge of handsTo.of(node)) {
        reached.add(edges.target![edge]!);
      }
    }
    for (const node of [...reached].sort((a, b) => a - b)) {
      this.add("backward_members", { backward_call: call, grad_node: node });
    }
    return call;
  }

  bytes(): Uint8Array {
    return pack(this.strings, this.origin, this.tables);
  }

  async trace(): Promise<Trace> {
    return new Trace(await unpack(this.bytes()));
  }

  #gradNodeOf(tensor: number, group: number): number {
    const known = this.#gradNodeOfTensor.get(tensor);
    if (known !== undefined) {
      return known;
    }
    if (this.tables.tensors.kind![tensor] !== TENSOR_KINDS.indexOf("parameter")) {
      return -1;
    }
    const leaf = this.gradNode("GradNodeAccumulation", { parameter: tensor, group });
    this.#gradNodeOfTensor.set(tensor, leaf);
    return leaf;
  }
}

function camel(name: string): string {
  return name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

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

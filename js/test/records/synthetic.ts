/** Traces made by hand, op by op. */

import { RowsByKey } from "../../src/trace/csr.ts";
import {
  BACKWARD_KINDS,
  EDGE_KINDS,
  PHASES,
  ROLES,
  TENSOR_KINDS,
} from "../../src/trace/protocol.ts";
import { SyntheticTables } from "./synthetic_tables.ts";

export interface OpOptions {
  group?: number;
  phase?: (typeof PHASES)[number];
  inputs?: number[];
  outputs?: number;
  shape?: string;
  stack?: number;
  isPylayer?: boolean;
  isInitial?: boolean;
  /** Whether a grad node is made for it; true unless said otherwise. */
  hasGrad?: boolean;
  gradName?: string;
}

/** Grows a trace op by op; grad nodes, data-flow edges and counts follow by themselves. */
export class SyntheticTrace extends SyntheticTables {
  /** Grad nodes that backward calls began with. */
  readonly roots: number[] = [];
  /** Grad node that made a tensor's value: where its gradient flows. */
  #gradNodeOfTensor = new Map<number, number>();

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
    this.add("op_groups", { group, is_initial: options.isInitial ? 1 : 0 });
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
    this.roots.push(root);
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

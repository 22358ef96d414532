/**
 * The tree of groups as it is drawn: the content of each group in execution order, and runs of
 * equal siblings. Groups without ops and grad nodes are omitted. A layer that runs a single op is
 * drawn as this op; such a group is "transparent".
 */

import { RowsByKey } from "../../trace/csr.ts";
import { GROUP_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { asideOps } from "./op_states.ts";
import { pylayersOfBackwardOps } from "./pylayer_groups.ts";
import { findRuns, type Runs } from "./runs.ts";

const [LAYER, CALL, OPTIMIZER] = (["layer", "call", "optimizer"] as const).map((kind) =>
  GROUP_KINDS.indexOf(kind),
);

export class Hierarchy {
  /** The parent of each group, -1 at the top. */
  readonly parents: ArrayLike<number>;
  /** The group of each op. The op of a PyLayer belongs to the PyLayer's own group. */
  readonly groupOfOp: Int32Array;
  readonly groupOfGradNode: Int32Array;
  /** 1 if a group is drawn as the only op that it contains. */
  readonly isTransparent: Uint8Array;
  /** The first group of the run to which a group belongs, -1 for none. */
  readonly runOf: Int32Array;
  /** For an op that a PyLayer's backward ran: the group of the PyLayer; -1 for other ops. */
  readonly pylayerOfBackwardOp: Int32Array;
  /** 1 for optimizer steps and all groups inside them. */
  readonly isOptimizer: Uint8Array;
  /** The result of `asideOps`, by op. */
  readonly isAside: Uint8Array;

  #groupOnRow: Int32Array | undefined;
  readonly #trace: Trace;
  readonly #groups: RowsByKey;
  readonly #ops: RowsByKey;
  readonly #gradNodes: RowsByKey;
  readonly #order: Float64Array;
  readonly #runs: Runs;

  constructor(trace: Trace) {
    this.#trace = trace;
    const count = trace.groupCount;
    this.groupOfOp = Int32Array.from(trace.table("op_groups").column("group"));
    this.pylayerOfBackwardOp = pylayersOfBackwardOps(trace, this.groupOfOp);
    this.groupOfGradNode = Int32Array.from(trace.table("grad_node_groups").column("group"));
    const parents = trace.table("groups").column("parent");
    this.parents = parents;
    const ops = countInside(parents, this.groupOfOp);
    const gradNodes = countInside(parents, this.groupOfGradNode);
    this.isTransparent = new Uint8Array(count);
    this.isOptimizer = new Uint8Array(count);
    this.isAside = asideOps(trace);
    this.#order = new Float64Array(count);
    const [kind, firstOp] = trace.columns("groups", "kind", "first_op");
    const key = new Int32Array(count);
    for (let group = 0; group < count; group++) {
      const parent = parents[group]!;
      const isPlain = kind[group] === LAYER || kind[group] === CALL;
      this.isTransparent[group] = isPlain && ops[group] === 1 ? 1 : 0;
      this.isOptimizer[group] =
        kind[group] === OPTIMIZER || (parent >= 0 && this.isOptimizer[parent]) ? 1 : 0;
      key[group] = ops[group]! + gradNodes[group]! > 0 ? parent + 1 : -1;
      this.#order[group] = firstOp[group]! >= 0 ? firstOp[group]! : trace.opCount + group;
    }
    this.#groups = RowsByKey.index(key, count + 1);
    this.#sortSiblings();
    this.#ops = RowsByKey.index(
      this.groupOfOp.map((group) => group + 1),
      count + 1,
    );
    this.#gradNodes = RowsByKey.index(
      this.groupOfGradNode.map((group) => group + 1),
      count + 1,
    );
    this.#runs = findRuns(trace, {
      groups: this.#groups,
      ops: this.#ops,
      order: this.#order,
      isTransparent: this.isTransparent,
    });
    this.runOf = this.#runs.runOf;
  }

  /**
   * The group of each grad node in the rows of a ladder, which is the group of its op. Nodes that
   * `paddle.grad` made are in the groups of layers, but the call itself is not.
   */
  get groupOnRow(): Int32Array {
    this.#groupOnRow ??= groupsOnRows(this.#trace, this.groupOfOp, this.groupOfGradNode);
    return this.#groupOnRow;
  }

  /** Groups directly inside `parent` (-1: the top), in execution order. */
  groupsIn(parent: number): Int32Array {
    return this.#groups.of(parent + 1);
  }

  /** Ops directly inside `parent` (-1: the top), in execution order. */
  opsIn(parent: number): Int32Array {
    return this.#ops.of(parent + 1);
  }

  gradNodesIn(parent: number): Int32Array {
    return this.#gradNodes.of(parent + 1);
  }

  /**
   * The members of the run that begins with `first`, in execution order; empty if there is no such
   * run.
   */
  runMembers(first: number): Int32Array {
    return this.#runs.members.get(first) ?? new Int32Array(0);
  }

  /** The first group of each run. */
  runFirsts(): number[] {
    return [...this.#runs.members.keys()];
  }

  /** The position of a group among ops, which is that of its first op. */
  orderOf(group: number): number {
    return this.#order[group]!;
  }

  /** A group and all groups that contain it, the outermost first, without transparent groups. */
  pathOf(group: number): number[] {
    return this.#trace.groupPath(group).filter((at) => !this.isTransparent[at]);
  }

  /** Sort siblings by execution order, because the order of the table can differ a little. */
  #sortSiblings(): void {
    const { starts, rows } = this.#groups;
    const order = this.#order;
    for (let parent = 0; parent + 1 < starts.length; parent++) {
      for (let at = starts[parent]! + 1; at < starts[parent + 1]!; at++) {
        if (order[rows[at - 1]!]! > order[rows[at]!]!) {
          this.#groups.of(parent).sort((a, b) => order[a]! - order[b]! || a - b);
          break;
        }
      }
    }
  }
}

/** @returns `groups` itself if all grad nodes are in the groups of their ops */
function groupsOnRows(trace: Trace, groupOfOp: Int32Array, groups: Int32Array): Int32Array {
  const op = trace.pairedOps;
  const onRows = groups.map((group, node) => (op[node]! >= 0 ? groupOfOp[op[node]!]! : group));
  return onRows.every((group, node) => group === groups[node]) ? groups : onRows;
}

/**
 * How many items each group contains, including nested groups.
 *
 * @param groupOf the group of each item
 */
export function countInside(
  parents: ArrayLike<number>,
  groupOf: Int32Array,
  isCounted?: Uint8Array,
): Int32Array {
  const count = new Int32Array(parents.length);
  for (let leaf = 0; leaf < groupOf.length; leaf++) {
    if (groupOf[leaf]! >= 0 && (!isCounted || isCounted[leaf])) {
      count[groupOf[leaf]!]!++;
    }
  }
  for (let group = count.length - 1; group >= 0; group--) {
    if (parents[group]! >= 0) {
      count[parents[group]!]! += count[group]!;
    }
  }
  return count;
}

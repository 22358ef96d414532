/** The open part of the group tree. The picture draws it, and the outline lists it. */

import type { Trace } from "../../trace/trace.ts";
import { callsInside } from "../gradients/backward_calls.ts";
import type { Hierarchy } from "../graph/hierarchy.ts";
import { foldAround, isFolded } from "../state/folding.ts";
import type { ViewState } from "../state/view_state.ts";
import { backwardLeaves, forwardLeaves, type Leaves } from "./leaves.ts";

export type ItemKind = "op" | "grad_node" | "group" | "fold" | "tensor";

export interface VisibleItem {
  /** Stays the same while the item is visible. */
  readonly id: string;
  readonly kind: ItemKind;
  /** The key of the op, grad node, group or tensor; for a fold, the key of the first member. */
  readonly key: number;
  /** The position of the open group that contains the item, -1 at the top. */
  readonly parent: number;
  readonly isOpen: boolean;
  /** The names of groups that are drawn as this op, such as "fc1"; "" if there are none. */
  readonly through: string;
  /** How many ops (or grad nodes) of the picture the item represents or contains. */
  readonly leafCount: number;
  /** Position in execution order. */
  readonly order: number;
}

export interface VisibleTree {
  /** Parents before children, siblings in the order of flow. */
  readonly items: readonly VisibleItem[];
  /** The position in `items` of the box that shows an op; -1 if there is none. */
  boxOfOp(op: number): number;
  boxOfGradNode(gradNode: number): number;
}

export type TreeState = Pick<
  ViewState,
  "open" | "unfolded" | "taken" | "isolation" | "showOptimizer" | "showParameters" | "backwardCall"
>;

export function visibleForward(trace: Trace, hierarchy: Hierarchy, state: TreeState): VisibleTree {
  const walk = new Walk(trace, hierarchy, state, forwardLeaves(trace, hierarchy, state));
  return {
    items: walk.items,
    boxOfOp: (op) => walk.boxOf(op),
    boxOfGradNode: () => -1,
  };
}

export function visibleBackward(trace: Trace, hierarchy: Hierarchy, state: TreeState): VisibleTree {
  const walk = new Walk(trace, hierarchy, state, backwardLeaves(trace, hierarchy, state));
  const boxOfOp = new Map<number, number>();
  for (const item of pylayerOps(trace, hierarchy, state, walk.items)) {
    boxOfOp.set(item.key, walk.items.push(item) - 1);
  }
  return {
    items: walk.items,
    boxOfOp: (op) => boxOfOp.get(op) ?? -1,
    boxOfGradNode: (node) => walk.boxOf(node),
  };
}

/** The ops that a PyLayer's backward ran in Python, as items inside its open group. */
function pylayerOps(
  trace: Trace,
  hierarchy: Hierarchy,
  state: TreeState,
  items: readonly VisibleItem[],
): VisibleItem[] {
  const open = new Map<number, number>();
  items.forEach((item, index) => {
    if (item.isOpen && trace.groupKind(item.key) === "pylayer") {
      open.set(item.key, index);
    }
  });
  const made: VisibleItem[] = [];
  if (!open.size) {
    return made;
  }
  const isInside = callsInside(trace, state.backwardCall);
  hierarchy.pylayerOfBackwardOp.forEach((pylayer, op) => {
    const parent = pylayer >= 0 ? open.get(pylayer) : undefined;
    if (parent !== undefined && isInside[trace.backwardCallOf(op)]) {
      const id = `op:${op}`;
      const item = { id, key: op, parent, isOpen: false, through: "", leafCount: 1, order: op };
      made.push({ ...item, kind: "op" });
    }
  });
  return made;
}

interface Level {
  readonly item: number;
  readonly groups: Int32Array;
  readonly leaves: Int32Array;
  groupAt: number;
  leafAt: number;
  readonly through: string;
}

class Walk {
  readonly items: VisibleItem[] = [];
  /** The item of each closed group, or of its folded run; -1 for open and hidden groups. */
  readonly #itemOfGroup: Int32Array;
  readonly #itemOfLeaf: Int32Array;

  constructor(
    readonly trace: Trace,
    readonly hierarchy: Hierarchy,
    readonly state: TreeState,
    readonly leaves: Leaves,
  ) {
    this.#itemOfGroup = new Int32Array(trace.groupCount).fill(-1);
    this.#itemOfLeaf = new Int32Array(leaves.groupOf.length).fill(-1);
    const levels = [this.#level(-1, -1, "")];
    while (levels.length) {
      const level = levels.at(-1)!;
      const deeper = this.#step(level);
      if (deeper) {
        levels.push(deeper);
      } else if (this.#isDone(level)) {
        levels.pop();
      }
    }
  }

  /** Position of the box that shows a leaf, -1 if none does. */
  boxOf(leaf: number): number {
    const own = this.#itemOfLeaf[leaf] ?? -1;
    if (own >= 0 || !this.leaves.isShown[leaf]) {
      return own;
    }
    const { parents } = this.hierarchy;
    for (let group = this.leaves.groupOf[leaf]!; group >= 0; group = parents[group]!) {
      if (this.#itemOfGroup[group]! >= 0) {
        return this.#itemOfGroup[group]!;
      }
    }
    return -1;
  }

  #level(group: number, item: number, through: string): Level {
    const { shownIn, direction } = this.leaves;
    const groups = this.hierarchy.groupsIn(group).filter((inner) => shownIn[inner]! > 0);
    if (direction < 0) {
      groups.reverse();
    }
    return { item, groups, leaves: this.leaves.in(group), groupAt: 0, leafAt: 0, through };
  }

  #isDone(level: Level): boolean {
    return level.groupAt >= level.groups.length && level.leafAt >= level.leaves.length;
  }

  /** Lists the next item of the level. If the item is open, returns the level inside. */
  #step(level: Level): Level | undefined {
    const { leaves, hierarchy } = this;
    const group = level.groups[level.groupAt];
    const leaf = level.leaves[level.leafAt];
    if (leaf !== undefined) {
      const ahead =
        group === undefined
          ? 1
          : (hierarchy.orderOf(group) - leaves.order(leaf)) * leaves.direction;
      if (ahead > 0 || (ahead === 0 && leaves.direction > 0)) {
        level.leafAt++;
        this.#itemOfLeaf[leaf] = this.#list(leaves.kind, leaf, level, false, leaves.order(leaf));
        return undefined;
      }
    }
    if (group === undefined) {
      return undefined;
    }
    level.groupAt++;
    return this.#listGroup(group, level);
  }

  #listGroup(group: number, level: Level): Level | undefined {
    const { hierarchy, state } = this;
    const order = hierarchy.orderOf(group);
    if (hierarchy.isTransparent[group]) {
      const label = this.trace.groupLabel(group);
      return this.#level(group, level.item, level.through ? `${level.through}.${label}` : label);
    }
    if (isFolded(hierarchy, state, group)) {
      this.#listFold(foldAround(hierarchy, state, group), level);
      return undefined;
    }
    const isOpen = state.open.has(group);
    const item = this.#list("group", group, level, isOpen, order);
    if (isOpen) {
      return this.#level(group, item, "");
    }
    this.#itemOfGroup[group] = item;
    return undefined;
  }

  /** List all members of a fold as one item. */
  #listFold(members: Int32Array, level: Level): void {
    const first = members[0]!;
    const item = this.#list("fold", first, level, false, this.hierarchy.orderOf(first));
    for (const member of members) {
      this.#itemOfGroup[member] = item;
    }
    while (this.#itemOfGroup[level.groups[level.groupAt]!] === item) {
      level.groupAt++;
    }
  }

  #list(kind: ItemKind, key: number, level: Level, isOpen: boolean, order: number): number {
    const id = `${kind}:${key}`;
    const through = kind === "op" || kind === "grad_node" ? level.through : "";
    const leafCount = this.#leafCount(kind, key);
    return (
      this.items.push({ id, kind, key, parent: level.item, isOpen, through, leafCount, order }) - 1
    );
  }

  #leafCount(kind: ItemKind, key: number): number {
    if (kind === "fold") {
      const { shownIn } = this.leaves;
      const members = foldAround(this.hierarchy, this.state, key);
      return members.reduce((sum, group) => sum + shownIn[group]!, 0);
    }
    return kind === "group" ? this.leaves.shownIn[key]! : 1;
  }
}

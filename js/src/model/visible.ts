/** The part of the group tree that is open: what is drawn, and what the outline lists. */
import type { Hierarchy } from "./hierarchy.ts";
import type { ViewState } from "./store.ts";
import type { Trace } from "./trace.ts";

export type ItemKind = "op" | "grad_node" | "group" | "fold" | "tensor";

export interface VisibleItem {
  /** Stays the same while the item is visible. */
  readonly id: string;
  readonly kind: ItemKind;
  /** Key of the op, grad node, group or tensor; of a fold, its first group. */
  readonly key: number;
  /** Position of the open group around it, -1 at the top. */
  readonly parent: number;
  readonly isOpen: boolean;
  /** Groups that are drawn as this one op: "fc1"; "" for none. */
  readonly through: string;
  /** How many ops (or grad nodes) of the picture it stands for or holds. */
  readonly leafCount: number;
  /** Position in the order in which things ran: earlier is less. */
  readonly order: number;
}

export interface VisibleTree {
  /** Parents before children, siblings in the order of flow. */
  readonly items: readonly VisibleItem[];
  /** Position in `items` of the box that shows an op, -1 where it is hidden. */
  readonly boxOfOp: Int32Array;
  readonly boxOfGradNode: Int32Array;
}

export type TreeState = Pick<
  ViewState,
  "open" | "unfolded" | "showOptimizer" | "showParameters" | "backwardCall"
>;

/** What the walk over the group tree asks about one kind of leaf. */
interface Leaves {
  readonly kind: "op" | "grad_node";
  readonly groupOf: Int32Array;
  /** Leaves right inside a group, ascending. */
  in(group: number): Int32Array;
  /** Whether the leaf is part of the picture. */
  readonly isShown: (leaf: number) => boolean;
  order(leaf: number): number;
  /** -1 where the flow runs against the order in which ops ran. */
  readonly direction: 1 | -1;
}

export function visibleForward(trace: Trace, hierarchy: Hierarchy, state: TreeState): VisibleTree {
  const walk = new Walk(trace, hierarchy, state, {
    kind: "op",
    groupOf: hierarchy.groupOfOp,
    in: (group) => hierarchy.opsIn(group),
    isShown: (op) =>
      hierarchy.pylayerOfBackwardOp[op]! < 0 &&
      (state.showOptimizer || trace.phaseOf(op) !== "optimizer"),
    order: (op) => op,
    direction: 1,
  });
  return {
    items: walk.items,
    boxOfOp: walk.boxes(trace.opCount),
    boxOfGradNode: new Int32Array(trace.gradNodeCount).fill(-1),
  };
}

export function visibleBackward(trace: Trace, hierarchy: Hierarchy, state: TreeState): VisibleTree {
  const isMember = membersOf(trace, state.backwardCall);
  const op = trace.table("grad_nodes").column("op");
  const walk = new Walk(trace, hierarchy, state, {
    kind: "grad_node",
    groupOf: hierarchy.groupOfGradNode,
    in: (group) => hierarchy.gradNodesIn(group),
    isShown: (node) => isMember[node] === 1 && (state.showParameters || !isLeaf(trace, node)),
    order: (node) => (op[node]! >= 0 ? op[node]! : trace.opCount + node),
    direction: -1,
  });
  const boxOfGradNode = walk.boxes(trace.gradNodeCount);
  const boxOfOp = new Int32Array(trace.opCount).fill(-1);
  const items = [...walk.items, ...pylayerOps(trace, hierarchy, state, walk.items)];
  items.forEach((item, index) => {
    if (item.kind === "op") {
      boxOfOp[item.key] = index;
    }
  });
  return { items, boxOfOp, boxOfGradNode };
}

/** What a PyLayer's backward ran in Python, inside its open group. */
function pylayerOps(
  trace: Trace,
  hierarchy: Hierarchy,
  state: TreeState,
  items: readonly VisibleItem[],
): VisibleItem[] {
  const open = new Map<number, number>();
  items.forEach((item, index) => {
    if (item.kind === "group" && item.isOpen) {
      open.set(item.key, index);
    }
  });
  const made: VisibleItem[] = [];
  hierarchy.pylayerOfBackwardOp.forEach((pylayer, op) => {
    const parent = pylayer >= 0 ? open.get(pylayer) : undefined;
    if (parent !== undefined && trace.backwardCallOf(op) === state.backwardCall) {
      const id = `op:${op}`;
      const item = { id, key: op, parent, isOpen: false, through: "", leafCount: 1, order: op };
      made.push({ ...item, kind: "op" });
    }
  });
  return made;
}

/** 1 for every grad node of one backward call's graph. */
export function membersOf(trace: Trace, backwardCall: number): Uint8Array {
  const isMember = new Uint8Array(trace.gradNodeCount);
  const members = trace.table("backward_members");
  const call = members.column("backward_call");
  const node = members.column("grad_node");
  for (let row = 0; row < members.length; row++) {
    if (call[row] === backwardCall && node[row]! >= 0) {
      isMember[node[row]!] = 1;
    }
  }
  return isMember;
}

/** Whether a grad node only accumulates into a parameter or another leaf tensor. */
export function isLeaf(trace: Trace, gradNode: number): boolean {
  return (
    trace.at("grad_nodes", "op", gradNode) < 0 &&
    (trace.at("grad_nodes", "parameter", gradNode) >= 0 ||
      trace.textAt("grad_nodes", "name", gradNode).startsWith("GradNodeAccumulation"))
  );
}

interface Level {
  readonly item: number;
  readonly groups: Int32Array;
  readonly leaves: Int32Array;
  groupAt: number;
  leafAt: number;
  through: string;
}

class Walk {
  readonly items: VisibleItem[] = [];
  /** Item of a closed group, -1 for one that is open or hidden. */
  readonly #itemOfGroup: Int32Array;
  readonly #itemOfRun = new Map<number, number>();
  readonly #itemOfLeaf = new Map<number, number>();
  readonly #shown: Int32Array;

  constructor(
    readonly trace: Trace,
    readonly hierarchy: Hierarchy,
    readonly state: TreeState,
    readonly leaves: Leaves,
  ) {
    this.#itemOfGroup = new Int32Array(trace.groupCount).fill(-1);
    this.#shown = this.#shownCounts();
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

  /** Position of the box that shows each leaf, -1 where none does. */
  boxes(count: number): Int32Array {
    const { trace, leaves } = this;
    const parents = trace.table("groups").column("parent");
    const boxOfGroup = this.#itemOfGroup.slice();
    for (let group = 0; group < boxOfGroup.length; group++) {
      if (boxOfGroup[group]! < 0 && parents[group]! >= 0) {
        boxOfGroup[group] = boxOfGroup[parents[group]!]!;
      }
    }
    const boxes = new Int32Array(count).fill(-1);
    for (let leaf = 0; leaf < count; leaf++) {
      if (leaves.isShown(leaf)) {
        const group = leaves.groupOf[leaf]!;
        boxes[leaf] = this.#itemOfLeaf.get(leaf) ?? (group >= 0 ? boxOfGroup[group]! : -1);
      }
    }
    return boxes;
  }

  /** How many leaves of the picture each group holds. */
  #shownCounts(): Int32Array {
    const { trace, leaves } = this;
    const counts = new Int32Array(trace.groupCount);
    leaves.groupOf.forEach((group, leaf) => {
      if (group >= 0 && leaves.isShown(leaf)) {
        counts[group]!++;
      }
    });
    const parents = trace.table("groups").column("parent");
    for (let group = trace.groupCount - 1; group >= 0; group--) {
      if (parents[group]! >= 0) {
        counts[parents[group]!]! += counts[group]!;
      }
    }
    return counts;
  }

  #level(group: number, item: number, through: string): Level {
    const groups = this.hierarchy.groupsIn(group).filter((inner) => this.#shown[inner]! > 0);
    const leaves = this.leaves.in(group).filter(this.leaves.isShown);
    leaves.sort((a, b) => this.leaves.direction * (this.leaves.order(a) - this.leaves.order(b)));
    if (this.leaves.direction < 0) {
      groups.reverse();
    }
    return { item, groups, leaves, groupAt: 0, leafAt: 0, through };
  }

  #isDone(level: Level): boolean {
    return level.groupAt >= level.groups.length && level.leafAt >= level.leaves.length;
  }

  /** Lists the level's next item; returns the level inside it if it is open. */
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
        this.#itemOfLeaf.set(leaf, this.#list(leaves.kind, leaf, level, false, leaves.order(leaf)));
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
    const run = hierarchy.runOf[group]!;
    if (run >= 0 && !state.unfolded.has(run)) {
      const item =
        this.#itemOfRun.get(run) ?? this.#list("fold", run, level, false, hierarchy.orderOf(run));
      this.#itemOfRun.set(run, item);
      this.#itemOfGroup[group] = item;
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
      return this.hierarchy.runMembers(key).reduce((sum, group) => sum + this.#shown[group]!, 0);
    }
    return kind === "group" ? this.#shown[key]! : 1;
  }
}

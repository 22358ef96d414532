/**
 * The group tree as it can be drawn: what a group holds, in execution order, and which siblings
 * repeat each other. Groups without ops and grad nodes are left out; a layer that runs one op only
 * is drawn as that op ("transparent").
 */
import { RowsByKey } from "./csr.ts";
import type { Trace } from "./trace.ts";

/** From how many repeats a run is folded: fewer where a member holds more than one op. */
const RUN_OF_SINGLES = 3;
const RUN_OF_BLOCKS = 2;

export class Hierarchy {
  /** The group around each group, -1 at the top. */
  readonly parents: ArrayLike<number>;
  /** Group of each op; a PyLayer's own op belongs to the PyLayer's group. */
  readonly groupOfOp: Int32Array;
  readonly groupOfGradNode: Int32Array;
  /** 1 where a group is drawn as its only op. */
  readonly isTransparent: Uint8Array;
  /** First group of the run of repeats that a group belongs to, -1 for none. */
  readonly runOf: Int32Array;
  /** For an op that a PyLayer's backward ran, the PyLayer's group; -1 for all others. */
  readonly pylayerOfBackwardOp: Int32Array;
  /** 1 for optimizer steps and all inside them. */
  readonly isOptimizer: Uint8Array;

  readonly #trace: Trace;
  readonly #groups: RowsByKey;
  readonly #ops: RowsByKey;
  readonly #gradNodes: RowsByKey;
  readonly #order: Float64Array;
  readonly #runs = new Map<number, number[]>();

  constructor(trace: Trace) {
    this.#trace = trace;
    this.groupOfOp = ownGroupOfPyLayers(trace);
    this.pylayerOfBackwardOp = pylayersOfBackwardOps(trace, this.groupOfOp);
    const opOfGradNode = trace.table("grad_nodes").column("op");
    this.groupOfGradNode = Int32Array.from(
      trace.table("grad_node_groups").column("group"),
      (group, node) => (opOfGradNode[node]! >= 0 ? this.groupOfOp[opOfGradNode[node]!]! : group),
    );
    const parents = trace.table("groups").column("parent");
    this.parents = parents;
    const content = contentCount(trace, this.groupOfOp, this.groupOfGradNode);
    this.isTransparent = new Uint8Array(trace.groupCount);
    this.isOptimizer = new Uint8Array(trace.groupCount);
    const key = new Int32Array(trace.groupCount);
    for (let group = 0; group < trace.groupCount; group++) {
      const kind = trace.groupKind(group);
      const parent = parents[group]!;
      const isPlain = kind === "layer" || kind === "call_site";
      this.isTransparent[group] = isPlain && content.ops[group] === 1 ? 1 : 0;
      this.isOptimizer[group] =
        kind === "optimizer" || (parent >= 0 && this.isOptimizer[parent]) ? 1 : 0;
      key[group] = content.ops[group]! + content.gradNodes[group]! > 0 ? parent + 1 : -1;
    }
    this.#order = new Float64Array(trace.groupCount);
    for (let group = 0; group < trace.groupCount; group++) {
      const first = trace.at("groups", "first_op", group);
      this.#order[group] = first >= 0 ? first : trace.opCount + group;
    }
    this.#groups = RowsByKey.index(key, trace.groupCount + 1);
    for (let parent = 0; parent <= trace.groupCount; parent++) {
      this.#groups.of(parent).sort((a, b) => this.#order[a]! - this.#order[b]! || a - b);
    }
    this.#ops = RowsByKey.index(shifted(this.groupOfOp), trace.groupCount + 1);
    this.#gradNodes = RowsByKey.index(shifted(this.groupOfGradNode), trace.groupCount + 1);
    this.runOf = new Int32Array(trace.groupCount).fill(-1);
    for (let parent = -1; parent < trace.groupCount; parent++) {
      this.#findRuns(parent);
    }
  }

  /** Groups right inside `parent` (-1: the top), in execution order. */
  groupsIn(parent: number): Int32Array {
    return this.#groups.of(parent + 1);
  }

  /** Ops right inside `parent` (-1: the top), in execution order. */
  opsIn(parent: number): Int32Array {
    return this.#ops.of(parent + 1);
  }

  gradNodesIn(parent: number): Int32Array {
    return this.#gradNodes.of(parent + 1);
  }

  /** Members of the run that begins with `first`, in execution order; none if it begins no run. */
  runMembers(first: number): readonly number[] {
    return this.#runs.get(first) ?? [];
  }

  get runs(): ReadonlyMap<number, readonly number[]> {
    return this.#runs;
  }

  /** Position of a group among ops: that of its first op. */
  orderOf(group: number): number {
    return this.#order[group]!;
  }

  /** The groups around a group, itself included, outermost first, without transparent ones. */
  pathOf(group: number): number[] {
    return this.#trace.groupPath(group).filter((at) => !this.isTransparent[at]);
  }

  /** "layers.0–11" for a run, "layers.3" for a group. */
  labelOfRun(first: number): string {
    const members = this.runMembers(first);
    return runLabel(members.map((group) => this.#trace.groupLabel(group)));
  }

  #findRuns(parent: number): void {
    const trace = this.#trace;
    const ops = this.opsIn(parent);
    let run: number[] = [];
    let opAt = 0;
    const close = (): void => {
      const first = run[0];
      if (first !== undefined) {
        const least = trace.at("groups", "op_count", first) > 1 ? RUN_OF_BLOCKS : RUN_OF_SINGLES;
        if (run.length >= least && !this.isTransparent[first]) {
          this.#runs.set(first, run);
          for (const member of run) {
            this.runOf[member] = first;
          }
        }
      }
      run = [];
    };
    for (const group of this.groupsIn(parent)) {
      // An op between two members would lie both after and before the folded box.
      const before = opAt;
      while (opAt < ops.length && ops[opAt]! < this.#order[group]!) {
        opAt++;
      }
      const structure = trace.at("groups", "structure", group);
      const previous = run.at(-1);
      const repeats =
        previous !== undefined &&
        opAt === before &&
        structure >= 0 &&
        structure === trace.at("groups", "structure", previous) &&
        trace.groupKind(group) === trace.groupKind(previous);
      if (!repeats) {
        close();
      }
      run.push(group);
    }
    close();
  }
}

/** "layers.0–11" from "layers.0" … "layers.11"; "a … b" where the names differ otherwise. */
export function runLabel(labels: readonly string[]): string {
  const first = labels[0] ?? "";
  const last = labels.at(-1) ?? "";
  const a = /^(.*?)(\d+)$/s.exec(first);
  const b = /^(.*?)(\d+)$/s.exec(last);
  if (first === last) {
    return first;
  }
  return a && b && a[1] === b[1] ? `${first}–${b[2]}` : `${first} … ${last}`;
}

function shifted(groups: Int32Array): Int32Array {
  return groups.map((group) => group + 1);
}

function ownGroupOfPyLayers(trace: Trace): Int32Array {
  const groupOfOp = Int32Array.from(trace.table("op_groups").column("group"));
  const opOfScope = trace.table("scopes").column("op");
  for (let group = 0; group < trace.groupCount; group++) {
    const scope = trace.at("groups", "scope", group);
    if (trace.groupKind(group) === "pylayer" && scope >= 0 && opOfScope[scope]! >= 0) {
      const op = opOfScope[scope]!;
      // The backward of a PyLayer is a group as well; its op stays in the forward one.
      if (
        trace.at("ops", "is_pylayer", op) &&
        trace.at("groups", "parent", group) === groupOfOp[op]
      ) {
        groupOfOp[op] = group;
      }
    }
  }
  return groupOfOp;
}

/** A PyLayer's backward is a call, and so a group, of its own: found by the PyLayer's own op. */
function pylayersOfBackwardOps(trace: Trace, groupOfOp: Int32Array): Int32Array {
  const opOfScope = trace.table("scopes").column("op");
  const parents = trace.table("groups").column("parent");
  const pylayer = new Int32Array(trace.groupCount).fill(-1);
  for (let group = 0; group < trace.groupCount; group++) {
    const scope = trace.at("groups", "scope", group);
    const op = trace.groupKind(group) === "pylayer" && scope >= 0 ? opOfScope[scope]! : -1;
    if (parents[group]! >= 0 && pylayer[parents[group]!]! >= 0) {
      pylayer[group] = pylayer[parents[group]!]!;
    } else if (op >= 0 && groupOfOp[op] !== group) {
      pylayer[group] = groupOfOp[op]!;
    }
  }
  return Int32Array.from(groupOfOp, (group, op) =>
    group >= 0 && trace.phaseOf(op) === "backward" ? pylayer[group]! : -1,
  );
}

interface Content {
  readonly ops: Int32Array;
  readonly gradNodes: Int32Array;
}

/** Ops and grad nodes of each group, those of nested groups included. */
function contentCount(trace: Trace, ofOp: Int32Array, ofGradNode: Int32Array): Content {
  const parents = trace.table("groups").column("parent");
  const sum = (groups: Int32Array): Int32Array => {
    const count = new Int32Array(trace.groupCount);
    for (const group of groups) {
      if (group >= 0) {
        count[group]!++;
      }
    }
    for (let group = trace.groupCount - 1; group >= 0; group--) {
      if (parents[group]! >= 0) {
        count[parents[group]!]! += count[group]!;
      }
    }
    return count;
  };
  return { ops: sum(ofOp), gradNodes: sum(ofGradNode) };
}

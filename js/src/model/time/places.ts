/**
 * The places in which boxes of time are nested: layer calls, loop iterations, or lines of a stack.
 */
import { kept } from "../../trace/kept.ts";
import { GROUP_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import type { Hierarchy } from "../graph/hierarchy.ts";
import type { BoxKind } from "./time_tree.ts";

export const NESTINGS = ["layer", "stack", "loop"] as const;
/** How the boxes are nested. */
export type Nesting = (typeof NESTINGS)[number];

const TURN = GROUP_KINDS.indexOf("turn");

type PlaceKind = Extract<BoxKind, "group" | "loop" | "frame"> | "";

/** Nested places. Each place comes after the place that contains it. */
export interface Places {
  /** The place that contains each place, -1 at the top. */
  readonly parent: ArrayLike<number>;
  /** How many places contain each place. */
  readonly depth: Int32Array;
  /**
   * The kind of each place. "" means that the place has no box, and its content is in the box
   * around it.
   */
  readonly kind: readonly PlaceKind[];
  /** The group, loop or frame of each place. */
  readonly key: ArrayLike<number>;
  /** Two places in the same box share a box if their numbers here are equal. */
  readonly likeness: ArrayLike<number>;
  /** All numbers in `likeness` are less than this. */
  readonly likenessEnd: number;
  /** The place in which an op ran, -1 for none. */
  ofOp(op: number): number;
  /** The place of a backward call. */
  ofCall(call: number): number;
  /** The place of a grad node: in layers its own place, in stacks the place of its op. */
  ofGradNode(gradNode: number): number;
}

export function placesOf(trace: Trace, hierarchy: Hierarchy, nesting: Nesting): Places {
  return kept(trace, `places by ${nesting}`, () =>
    nesting === "stack" ? stackPlaces(trace) : groupPlaces(trace, hierarchy, nesting === "loop"),
  );
}

/**
 * Groups as places. With `hasLoops`, a loop is a place that contains its iterations. Otherwise
 * iterations have no boxes.
 */
function groupPlaces(trace: Trace, hierarchy: Hierarchy, hasLoops: boolean): Places {
  const [kind, label, className, parents, scopes] = trace.columns(
    "groups",
    "kind",
    "label",
    "class",
    "parent",
    "scope",
  );
  const loopOfScope = new Int32Array(trace.table("scopes").length).fill(-1);
  const turns = trace.table("turns");
  for (let row = 0; row < turns.length; row++) {
    loopOfScope[turns.column("scope")[row]!] = turns.column("loop")[row]!;
  }
  const [parent, kinds]: [number[], PlaceKind[]] = [[], []];
  const [keys, likeness]: [number[], number[]] = [[], []];
  const likenesses = new Map<string, number>();
  const placeOfGroup = new Int32Array(trace.groupCount);
  const placeOfLoop = new Map<string, number>();
  const add = (around: number, kind: PlaceKind, key: number, like: string): number => {
    const number = likenesses.get(like) ?? likenesses.size;
    likenesses.set(like, number);
    parent.push(around);
    kinds.push(kind);
    keys.push(key);
    likeness.push(number);
    return parent.length - 1;
  };
  for (let group = 0; group < trace.groupCount; group++) {
    let around = parents[group]! < 0 ? -1 : placeOfGroup[parents[group]!]!;
    const isTurn = kind[group] === TURN;
    const loop = isTurn && scopes[group]! >= 0 ? loopOfScope[scopes[group]!]! : -1;
    if (hasLoops && loop >= 0) {
      const name = `${around} ${loop}`;
      const known = placeOfLoop.get(name);
      around = known ?? add(around, "loop", loop, `loop:${loop}`);
      placeOfLoop.set(name, around);
    }
    const like = `${kind[group]} ${label[group]} ${className[group]}`;
    placeOfGroup[group] = add(around, isTurn && !hasLoops ? "" : "group", group, like);
  }
  const groupOfScope = groupsOfScopes(trace, true);
  const scopeOfCall = scopesOfCalls(trace);
  const placeIn = (group: number): number => (group < 0 ? -1 : placeOfGroup[group]!);
  return {
    parent,
    depth: depthsOf(parent),
    kind: kinds,
    key: keys,
    likeness,
    likenessEnd: likenesses.size,
    ofOp: (op) => placeIn(hierarchy.groupOfOp[op]!),
    ofGradNode: (node) => placeIn(hierarchy.groupOfGradNode[node]!),
    ofCall: (call) => placeIn(groupOfScope[scopeOfCall[call]!] ?? -1),
  };
}

/**
 * The scope of each backward call: its own scope if it was stored, otherwise the scope that called
 * it.
 */
export function scopesOfCalls(trace: Trace): Int32Array {
  const scopes = Int32Array.from(trace.table("backward_calls").column("scope"));
  trace
    .table("scopes")
    .column("backward_call")
    .forEach((call, scope) => {
      if (call >= 0) scopes[call] = scope;
    });
  return scopes;
}

/**
 * The group of each scope, -1 for none.
 *
 * @param isInherited whether a scope without a group gets the group of the nearest scope around it
 * that has one
 */
export function groupsOfScopes(trace: Trace, isInherited: boolean): Int32Array {
  const parent = trace.table("scopes").column("parent");
  const groupOf = new Int32Array(parent.length).fill(-1);
  trace
    .table("groups")
    .column("scope")
    .forEach((scope, group) => {
      if (scope >= 0) groupOf[scope] = group;
    });
  for (let scope = 0; isInherited && scope < groupOf.length; scope++) {
    // The table lists a scope after its parent.
    if (groupOf[scope]! < 0 && parent[scope]! >= 0) groupOf[scope] = groupOf[parent[scope]!]!;
  }
  return groupOf;
}

/** The frames of stacks, outermost first. */
function stackPlaces(trace: Trace): Places {
  const [frame, caller] = trace.columns("stacks", "frame", "caller");
  const isHidden = Uint8Array.from(
    { length: trace.table("frames").length },
    (_, at) => +isPassedThrough(trace, at),
  );
  const stackOfOp = trace.table("ops").column("stack");
  return {
    parent: caller,
    depth: depthsOf(caller),
    kind: Array.from(frame, (key): PlaceKind => (key < 0 || isHidden[key] ? "" : "frame")),
    key: frame,
    likeness: frame,
    likenessEnd: trace.table("frames").length,
    ofOp: (op) => stackOfOp[op]!,
    ofCall: (call) => trace.at("backward_calls", "stack", call),
    ofGradNode: (node) => stackOfOp[trace.pairedOp(node)] ?? -1,
  };
}

/** Whether a frame of Paddle only calls the next one: `Layer.__call__`, a decorator. */
function isPassedThrough(trace: Trace, frame: number): boolean {
  return (
    trace.frameKind(frame) === "paddle" &&
    /(^|\.)(__call__|wrapper|__impl__)$/.test(trace.textAt("frames", "function", frame))
  );
}

function depthsOf(parent: ArrayLike<number>): Int32Array {
  const depth = new Int32Array(parent.length);
  for (let place = 0; place < depth.length; place++) {
    depth[place] = parent[place]! < 0 ? 0 : depth[parent[place]!]! + 1;
  }
  return depth;
}

/** The innermost place that contains both, -1 for none. */
export function commonPlace({ parent, depth }: Places, one: number, other: number): number {
  let [a, b] = [one, other];
  while (a !== b) {
    if (a < 0 || b < 0) return -1;
    if (depth[a]! >= depth[b]!) a = parent[a]!;
    else b = parent[b]!;
  }
  return a;
}

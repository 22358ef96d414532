/** Finds the rows of each kind. */

import { FRAME_KINDS, GROUP_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { layersOfScopes } from "../graph/layer_names.ts";
import type { RowKind, TableRows } from "./table_rows.ts";

const LAYER = GROUP_KINDS.indexOf("layer");
const USER = FRAME_KINDS.indexOf("user");

/** The kinds of which a trace has rows. */
export function isKindOffered(trace: Trace, kind: RowKind): boolean {
  if (kind === "node") return trace.gradNodeCount > 0;
  if (kind === "layer") return trace.table("layers").length > 0;
  if (kind === "turn") return trace.table("turns").length > 0;
  return true;
}

export function rowsOf(trace: Trace, kind: RowKind): TableRows {
  return FINDERS[kind](trace);
}

const FINDERS: Readonly<Record<RowKind, (trace: Trace) => TableRows>> = {
  op: byName,
  each: eachOp,
  layer: byLayer,
  line: byLine,
  turn: byTurn,
  node: eachNode,
};

function byName(trace: Trace): TableRows {
  const code = trace.table("ops").column("name");
  const { rowOf, keys } = numbered(code, (op) => code[op]!);
  return {
    kind: "op",
    count: keys.length,
    rowOf,
    names: keys,
    selection: () => ({ kind: "none" }),
  };
}

function eachOp(trace: Trace): TableRows {
  return {
    kind: "each",
    count: trace.opCount,
    rowOf: Int32Array.from({ length: trace.opCount }, (_, op) => op),
    names: trace.table("ops").column("name"),
    selection: (op) => ({ kind: "op", op }),
  };
}

function eachNode(trace: Trace): TableRows {
  return {
    kind: "node",
    count: trace.gradNodeCount,
    rowOf: Int32Array.from({ length: trace.gradNodeCount }, (_, node) => node),
    names: trace.table("grad_nodes").column("name"),
    selection: (gradNode) => ({ kind: "grad_node", gradNode }),
  };
}

/** Layers by name: all calls of a layer are one row. */
function byLayer(trace: Trace): TableRows {
  const around = layersOfScopes(trace);
  const scopes = trace.table("scopes");
  const kind = scopes.column("kind");
  const { rowOf: row, keys } = numbered(around, (scope) =>
    kind[scope] === LAYER ? around[scope]! : 0,
  );
  const rowOfName = new Map(Array.from(keys, (name, at) => [name, at]));
  const ofOp = trace.table("ops").column("scope");
  const groups = groupsOfScopes(trace);
  const first = new Int32Array(keys.length).fill(-1);
  for (let scope = row.length - 1; scope >= 0; scope--) {
    if (row[scope]! >= 0 && groups[scope]! >= 0) first[row[scope]!] = groups[scope]!;
  }
  return {
    kind: "layer",
    count: keys.length,
    rowOf: Int32Array.from(ofOp, (scope) => rowOfName.get(around[scope] ?? 0) ?? -1),
    places: { parent: scopes.column("parent"), ofOp, row },
    names: keys,
    selection: (at) => (first[at]! >= 0 ? { kind: "group", group: first[at]! } : { kind: "none" }),
  };
}

/** Iterations of loops, one row each. */
function byTurn(trace: Trace): TableRows {
  const scopes = trace.table("scopes");
  const parent = scopes.column("parent");
  const ofRow = trace.table("turns").column("scope");
  const row = new Int32Array(scopes.length).fill(-1);
  ofRow.forEach((scope, at) => {
    if (scope >= 0) row[scope] = at;
  });
  const innermost = new Int32Array(scopes.length);
  for (let scope = 0; scope < innermost.length; scope++) {
    innermost[scope] = row[scope]! >= 0 ? row[scope]! : (innermost[parent[scope]!] ?? -1);
  }
  const ofOp = trace.table("ops").column("scope");
  const groups = groupsOfScopes(trace);
  return {
    kind: "turn",
    count: ofRow.length,
    rowOf: Int32Array.from(ofOp, (scope) => innermost[scope] ?? -1),
    places: { parent, ofOp, row },
    selection: (at) => {
      const group = groups[ofRow[at]!] ?? -1;
      return group >= 0 ? { kind: "group", group } : { kind: "none" };
    },
  };
}

/**
 * Lines of the user's source. An op's own line is the innermost of its stack; it is also inside the
 * lines that called this one.
 */
function byLine(trace: Trace): TableRows {
  const frames = trace.table("frames");
  const [file, line, kind] = (["file", "line", "kind"] as const).map((name) => frames.column(name));
  const stacks = trace.table("stacks");
  const frameOf = stacks.column("frame");
  const ownFrame = trace.table("stack_frames").column("frame");
  const isShown = Uint8Array.from(kind!, (one) => Number(one === USER));
  for (const frame of ownFrame) if (frame >= 0) isShown[frame] = 1;
  let most = 1;
  for (const one of line!) most = Math.max(most, one + 1);
  const { rowOf: rowOfFrame, keys } = numbered(file!, (frame) =>
    isShown[frame] ? file![frame]! * most + line![frame]! + 1 : 0,
  );
  const ofOp = trace.table("ops").column("stack");
  return {
    kind: "line",
    count: keys.length,
    rowOf: Int32Array.from(ofOp, (stack) => rowOfFrame[ownFrame[stack] ?? -1] ?? -1),
    places: {
      parent: stacks.column("caller"),
      ofOp,
      row: Int32Array.from(frameOf, (frame) => rowOfFrame[frame] ?? -1),
    },
    selection: (at) => ({
      kind: "line",
      file: Math.floor((keys[at]! - 1) / most),
      line: (keys[at]! - 1) % most,
    }),
  };
}

/** Numbers items by a key, in the order of the first item of each; items with key 0 have none. */
function numbered(
  items: ArrayLike<number>,
  keyOf: (item: number) => number,
): { rowOf: Int32Array; keys: number[] } {
  const numbers = new Map<number, number>();
  const keys: number[] = [];
  const rowOf = new Int32Array(items.length).fill(-1);
  for (let item = 0; item < rowOf.length; item++) {
    const key = keyOf(item);
    if (!key) continue;
    let number = numbers.get(key);
    if (number === undefined) {
      number = keys.push(key) - 1;
      numbers.set(key, number);
    }
    rowOf[item] = number;
  }
  return { rowOf, keys };
}

/** The group of each scope, -1 for none. */
function groupsOfScopes(trace: Trace): Int32Array {
  const groups = new Int32Array(trace.table("scopes").length).fill(-1);
  trace
    .table("groups")
    .column("scope")
    .forEach((scope, group) => {
      if (scope >= 0) groups[scope] = group;
    });
  return groups;
}

/** Finds the rows of a table of each kind. */

import { FRAME_KINDS, GROUP_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { layersOfScopes } from "../graph/layer_names.ts";
import type { Selection } from "../state/view_state.ts";
import { groupsOfScopes, scopesOfCalls } from "../time/places.ts";
import { allSpans, type Spans } from "../time/spans.ts";
import { isNested, type RowKind, type TableRows } from "./table_rows.ts";

const LAYER = GROUP_KINDS.indexOf("layer");
const USER = FRAME_KINDS.indexOf("user");

/** Whether a trace has rows of a kind. */
export function isKindOffered(trace: Trace, kind: RowKind): boolean {
  if (kind === "node") return trace.gradNodeCount > 0;
  if (kind === "layer") return trace.table("layers").length > 0;
  if (kind === "turn") return trace.table("turns").length > 0;
  return true;
}

export function rowsOf(trace: Trace, kind: RowKind): TableRows {
  const rows = FINDERS[kind](trace, allSpans(trace));
  return isNested(kind) && rows.rowOf.includes(-1) ? withRest(rows) : rows;
}

/** Add a last row for items that have no row. */
function withRest(rows: TableRows): TableRows {
  const { count: rest, rowOf } = rows;
  const { parent, ofItem, row } = rows.places!;
  const place = parent.length;
  return {
    ...rows,
    rest,
    count: rest + 1,
    rowOf: rowOf.map((at) => (at < 0 ? rest : at)),
    places: {
      parent: Int32Array.from([...Array.from(parent), -1]),
      ofItem: rowOf.map((at, item) => (at < 0 ? place : ofItem[item]!)),
      row: Int32Array.from([...row, rest]),
    },
    selection: (at) => (at === rest ? { kind: "none" } : rows.selection(at)),
  };
}

const FINDERS: Readonly<Record<RowKind, (trace: Trace, spans: Spans) => TableRows>> = {
  op: byName,
  each: eachOp,
  layer: byLayer,
  line: byLine,
  turn: byTurn,
  node: byNodeName,
};

/** The selection in the graph for a span: its op, or the line that called `backward`. */
export function selectionOfSpan(trace: Trace, { op, call }: Spans, span: number): Selection {
  if (op[span]! >= 0) return { kind: "op", op: op[span]! };
  return lineOfStack(trace, trace.at("backward_calls", "stack", call[span]!));
}

/** The innermost line of the user's code in a stack. */
export function lineOfStack(trace: Trace, stack: number): Selection {
  const frame = stack < 0 ? -1 : trace.at("stack_frames", "frame", stack);
  return frame < 0 ? { kind: "none" } : lineOfFrame(trace, frame);
}

export function lineOfFrame(trace: Trace, frame: number): Selection {
  const at = (column: "file" | "line"): number => trace.at("frames", column, frame);
  return { kind: "line", file: at("file"), line: at("line") };
}

function namesOf(trace: Trace, spans: Spans): Int32Array {
  const [name, kind] = [
    trace.table("ops").column("name"),
    trace.table("backward_calls").column("kind"),
  ];
  return spans.op.map((op, span) => (op >= 0 ? name[op]! : -1 - kind[spans.call[span]!]!));
}

function byName(trace: Trace, spans: Spans): TableRows {
  const names = namesOf(trace, spans);
  const { rowOf, keys } = numbered(names, (span) => names[span]!);
  return {
    kind: "op",
    count: keys.length,
    rowOf,
    ...inSpans(spans, rowOf),
    names: keys,
    selection: () => ({ kind: "none" }),
  };
}

function eachOp(trace: Trace, spans: Spans): TableRows {
  const row = identity(spans.length);
  return {
    kind: "each",
    count: spans.length,
    rowOf: row,
    ...inSpans(spans, row),
    names: namesOf(trace, spans),
    selection: (span) => selectionOfSpan(trace, spans, span),
  };
}

/** Ops as places that contain other ops. Most traces have no such ops. */
function inSpans({ parent, length }: Spans, row: Int32Array): Pick<TableRows, "places"> {
  const isNested = parent.some((around) => around >= 0);
  return isNested ? { places: { parent, ofItem: identity(length), row } } : {};
}

function byNodeName(trace: Trace): TableRows {
  const names = trace.table("grad_nodes").column("name").subarray(0, trace.recordedGradNodeCount);
  const { rowOf, keys } = numbered(names, (node) => names[node]!);
  return {
    kind: "node",
    count: keys.length,
    rowOf,
    names: keys,
    selection: () => ({ kind: "none" }),
  };
}

/** Layers by name. All calls of a layer are one row. */
function byLayer(trace: Trace, spans: Spans): TableRows {
  const around = layersOfScopes(trace);
  const kind = trace.table("scopes").column("kind");
  const { rowOf: row, keys } = numbered(around, (scope) =>
    kind[scope] === LAYER ? around[scope]! : 0,
  );
  const groups = groupsOfScopes(trace, false);
  const first = new Int32Array(keys.length).fill(-1);
  for (let scope = row.length - 1; scope >= 0; scope--) {
    if (row[scope]! >= 0 && groups[scope]! >= 0) first[row[scope]!] = groups[scope]!;
  }
  return { ...inScopes(trace, spans, "layer", row, (at) => first[at]!), names: keys };
}

/** Iterations of loops. Each iteration is a row. */
function byTurn(trace: Trace, spans: Spans): TableRows {
  const scopeOf = trace.table("turns").column("scope");
  const row = new Int32Array(trace.table("scopes").length).fill(-1);
  scopeOf.forEach((scope, at) => {
    if (scope >= 0) row[scope] = at;
  });
  const groups = groupsOfScopes(trace, false);
  return inScopes(trace, spans, "turn", row, (at) => groups[scopeOf[at]!] ?? -1, scopeOf.length);
}

function inScopes(
  trace: Trace,
  spans: Spans,
  kind: RowKind,
  row: Int32Array,
  groupOf: (row: number) => number,
  count = row.reduce((most, at) => Math.max(most, at + 1), 0),
): TableRows {
  const parent = trace.table("scopes").column("parent");
  const innermost = new Int32Array(row.length);
  for (let scope = 0; scope < row.length; scope++) {
    innermost[scope] = row[scope]! >= 0 ? row[scope]! : (innermost[parent[scope]!] ?? -1);
  }
  const ofItem = ofSpans(trace, spans, "scope");
  return {
    kind,
    count,
    rowOf: ofItem.map((scope) => innermost[scope] ?? -1),
    places: { parent, ofItem, row },
    selection: (at) =>
      groupOf(at) >= 0 ? { kind: "group", group: groupOf(at) } : { kind: "none" },
  };
}

/**
 * Lines of the user's code. The own line of an op is the innermost line in its stack. The op also
 * belongs to the lines that called this line.
 */
function byLine(trace: Trace, spans: Spans): TableRows {
  const [file, line, kind] = trace.columns("frames", "file", "line", "kind");
  const stacks = trace.table("stacks");
  const frameOf = stacks.column("frame");
  const ownFrame = trace.table("stack_frames").column("frame");
  const isShown = Uint8Array.from(kind, (one) => Number(one === USER));
  const ofItem = ofSpans(trace, spans, "stack");
  for (const stack of ofItem) if (ownFrame[stack]! >= 0) isShown[ownFrame[stack]!] = 1;
  let most = 1;
  for (const one of line) most = Math.max(most, one + 1);
  const { rowOf: rowOfFrame, keys } = numbered(file, (frame) =>
    isShown[frame] ? file[frame]! * most + line[frame]! + 1 : 0,
  );
  return {
    kind: "line",
    count: keys.length,
    rowOf: ofItem.map((stack) => rowOfFrame[ownFrame[stack] ?? -1] ?? -1),
    places: {
      parent: stacks.column("caller"),
      ofItem,
      row: Int32Array.from(frameOf, (frame) => rowOfFrame[frame] ?? -1),
    },
    selection: (at) => ({
      kind: "line",
      file: Math.floor((keys[at]! - 1) / most),
      line: (keys[at]! - 1) % most,
    }),
  };
}

/** The scope or the stack of each span. */
function ofSpans(trace: Trace, { op, call }: Spans, column: "scope" | "stack"): Int32Array {
  const ofOp = trace.table("ops").column(column);
  const ofCall =
    column === "scope" ? scopesOfCalls(trace) : trace.table("backward_calls").column("stack");
  return op.map((key, span) => (key >= 0 ? ofOp[key]! : ofCall[call[span]!]!));
}

function identity(count: number): Int32Array {
  const same = new Int32Array(count);
  for (let at = 0; at < count; at++) same[at] = at;
  return same;
}

/** Numbers items by a key, in the order of their first items. Items with key 0 get no number. */
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

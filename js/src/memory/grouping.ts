/** Whose a block is: its op, its layer, its line of source, its kind. */
import type { Selection } from "../model/store.ts";
import type { Trace } from "../model/trace.ts";
import { FRAME_KINDS } from "../protocol.ts";
import type { Blocks } from "./blocks.ts";
import { kindLabel, MEMORY_KINDS } from "./kinds.ts";

export const GROUPINGS = ["op", "layer", "line", "kind"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** A way to group all blocks of a trace. */
export interface Groups {
  /** Group by row of `allocations`. */
  readonly groupOf: Int32Array;
  readonly count: number;
  label(group: number): string;
  /** What else tells it from others, "" where nothing does. */
  note(group: number): string;
  /** What it is in the graph. */
  selection(group: number): Selection;
}

export function groupAllocations(trace: Trace, grouping: Grouping): Groups {
  switch (grouping) {
    case "op":
      return byOp(trace);
    case "layer":
      return byLayer(trace);
    case "line":
      return byLine(trace);
    case "kind":
      return byKind(trace);
  }
}

/** Ops; in the backward, grad nodes; of blocks from before, their tensors. */
function byOp(trace: Trace): Groups {
  const { length } = trace.table("allocations");
  const opOf = trace.table("allocations").column("op");
  const gradNodeOf = trace.table("allocations").column("grad_node");
  const tensorOf = trace.table("allocations").column("tensor");
  const opEnd = trace.opCount;
  const gradEnd = opEnd + trace.gradNodeCount;
  const numbers = new Numbers(gradEnd + trace.table("tensors").length);
  const groupOf = new Int32Array(length);
  for (let row = 0; row < length; row++) {
    const [gradNode, op, tensor] = [gradNodeOf[row]!, opOf[row]!, tensorOf[row]!];
    groupOf[row] = numbers.of(
      gradNode >= 0 ? opEnd + gradNode : op >= 0 ? op : tensor >= 0 ? gradEnd + tensor : -1,
    );
  }
  const selection = (group: number): Selection => {
    const key = numbers.keys[group]!;
    if (key < 0) {
      return { kind: "none" };
    }
    return key < opEnd
      ? { kind: "op", op: key }
      : key < gradEnd
        ? { kind: "grad_node", gradNode: key - opEnd }
        : { kind: "tensor", tensor: key - gradEnd };
  };
  return {
    groupOf,
    count: numbers.keys.length,
    label: (group) => labelOf(trace, selection(group)),
    note: (group) => noteOf(trace, selection(group)),
    selection,
  };
}

export function labelOf(trace: Trace, selection: Selection): string {
  switch (selection.kind) {
    case "op":
      return `${trace.opLabel(selection.op)} #${selection.op}`;
    case "grad_node": {
      const parameter = trace.at("grad_nodes", "parameter", selection.gradNode);
      const op = trace.at("grad_nodes", "op", selection.gradNode);
      const name = trace.gradNodeLabel(selection.gradNode);
      return parameter >= 0
        ? `gradient of ${tensorName(trace, parameter)}`
        : op >= 0
          ? `${name} ↔ #${op}`
          : name;
    }
    case "tensor":
      return tensorName(trace, selection.tensor);
    default:
      return "no op of this trace";
  }
}

function noteOf(trace: Trace, selection: Selection): string {
  switch (selection.kind) {
    case "op":
      return trace.layerOf(selection.op) || trace.phaseOf(selection.op);
    case "grad_node": {
      const op = trace.at("grad_nodes", "op", selection.gradNode);
      return (op >= 0 && trace.layerOf(op)) || "backward";
    }
    case "tensor":
      return hasName(trace, selection.tensor) ? kindAndShape(trace, selection.tensor) : "";
    default:
      return "";
  }
}

function tensorName(trace: Trace, tensor: number): string {
  return (
    trace.textAt("tensors", "path", tensor) ||
    trace.textAt("tensors", "name", tensor) ||
    kindAndShape(trace, tensor)
  );
}

function hasName(trace: Trace, tensor: number): boolean {
  return tensorName(trace, tensor) !== kindAndShape(trace, tensor);
}

function kindAndShape(trace: Trace, tensor: number): string {
  return `${trace.tensorKind(tensor)} ${trace.textAt("tensors", "shape", tensor)}`;
}

/** Layers by path; a parameter from before the trace is its layer's. */
function byLayer(trace: Trace): Groups {
  const paths: string[] = [];
  const numbers = new Map<string, number>();
  const groups: number[] = [];
  const numberOf = (path: string, group: number): number => {
    let number = numbers.get(path);
    if (number === undefined) {
      number = paths.push(path) - 1;
      numbers.set(path, number);
      groups.push(group);
    }
    return number;
  };
  const ofGroup = remembered(trace.groupCount, (group) => {
    const layer = layerGroup(trace, group);
    return numberOf(layer < 0 ? "" : trace.groupName(layer), layer);
  });
  const layerGroups = new Map<string, number>();
  for (let group = 0; group < trace.groupCount; group++) {
    if (trace.groupKind(group) === "layer" && !layerGroups.has(trace.groupName(group))) {
      layerGroups.set(trace.groupName(group), group);
    }
  }
  const ofTensor = remembered(trace.table("tensors").length, (tensor) => {
    const path = trace.textAt("tensors", "path", tensor);
    const layer = path.slice(0, Math.max(0, path.lastIndexOf(".")));
    return numberOf(layer, layerGroups.get(layer) ?? -1);
  });
  const ofScope = remembered(trace.table("scopes").length, (scope) => {
    const path = layerOfScope(trace, scope);
    return numberOf(path, layerGroups.get(path) ?? -1);
  });
  const table = trace.table("allocations");
  const gradNodeOf = table.column("grad_node");
  const scopeOf = table.column("scope");
  const tensorOf = table.column("tensor");
  numberOf("", -1);
  // Inside a backward call the op says whose gradient it is; the scope is the call.
  const groupOf = Int32Array.from(table.column("op"), (op, row) => {
    const [gradNode, scope] = [gradNodeOf[row]!, scopeOf[row]!];
    const parameter = gradNode >= 0 ? trace.at("grad_nodes", "parameter", gradNode) : -1;
    const tensor = parameter >= 0 ? parameter : tensorOf[row]!;
    return (
      (op >= 0 && ofGroup(trace.groupOfOp(op))) ||
      (scope >= 0 && ofScope(scope)) ||
      (tensor >= 0 ? ofTensor(tensor) : 0)
    );
  });
  return {
    groupOf,
    count: paths.length,
    label: (number) => paths[number] || "outside of layers",
    note: (number) =>
      groups[number]! >= 0 ? trace.textAt("groups", "class", groups[number]!) : "",
    selection: (number) =>
      groups[number]! >= 0 ? { kind: "group", group: groups[number]! } : { kind: "none" },
  };
}

function layerOfScope(trace: Trace, scope: number): string {
  for (let at = scope; at >= 0; at = trace.at("scopes", "parent", at)) {
    const layer = trace.at("scopes", "layer", at);
    if (layer >= 0) {
      return trace.textAt("layers", "path", layer);
    }
  }
  return "";
}

function layerGroup(trace: Trace, group: number): number {
  let at = group;
  while (at >= 0 && trace.groupKind(at) !== "layer") {
    at = trace.at("groups", "parent", at);
  }
  return at;
}

/** Lines of the person's own source: the innermost in the stack that is theirs. */
function byLine(trace: Trace): Groups {
  const frames = trace.table("frames");
  const ownFrame = ownFrames(trace);
  const fileOf = frames.column("file");
  const lineOf = frames.column("line");
  const frameOf: number[] = [];
  const numbers = new Map<string, number>();
  const ofFrame = remembered(frames.length, (frame) => {
    const key = frame < 0 ? "" : `${fileOf[frame]} ${lineOf[frame]}`;
    const number = numbers.get(key) ?? frameOf.push(frame) - 1;
    numbers.set(key, number);
    return number;
  });
  const opOf = trace.table("allocations").column("op");
  const groupOf = Int32Array.from(trace.table("allocations").column("stack"), (stack, row) => {
    const own = stack >= 0 ? ownFrame[stack]! : -1;
    return ofFrame(own >= 0 || opOf[row]! < 0 ? own : trace.ownFrameOf(opOf[row]!));
  });
  return {
    groupOf,
    count: frameOf.length,
    label(number) {
      const frame = frameOf[number]!;
      if (frame < 0) {
        return "no line";
      }
      const cell = trace.at("frames", "cell", frame);
      const file = trace.textAt("frames", "file", frame).split(/[\\/]/).at(-1);
      return `${cell >= 0 ? `Cell [${cell}]` : file}, line ${trace.at("frames", "line", frame)}`;
    },
    note(number) {
      const source = frameOf[number]! >= 0 ? trace.sourceOf(frameOf[number]!) : undefined;
      return source?.lines[lineOf[frameOf[number]!]! - source.firstLine]?.trim() ?? "";
    },
    selection(number) {
      const frame = frameOf[number]!;
      return frame < 0
        ? { kind: "none" }
        : { kind: "line", file: fileOf[frame]!, line: lineOf[frame]! };
    },
  };
}

/**
 * By stack: the innermost frame that is the person's own; else the innermost of another library; else
 * the innermost.
 */
export function ownFrames(trace: Trace): Int32Array {
  const stacks = trace.table("stacks");
  const frameOf = stacks.column("frame");
  const kindOf = trace.table("frames").column("kind");
  const callerOf = stacks.column("caller");
  const best = Int32Array.from(frameOf);
  for (const wanted of ["library", "user"] as const) {
    const kind = FRAME_KINDS.indexOf(wanted);
    const nearest = new Int32Array(stacks.length);
    // A caller's row comes before those it called.
    for (let stack = 0; stack < stacks.length; stack++) {
      const [frame, caller] = [frameOf[stack]!, callerOf[stack]!];
      nearest[stack] =
        frame >= 0 && kindOf[frame] === kind ? frame : caller >= 0 ? nearest[caller]! : -1;
      if (nearest[stack]! >= 0) {
        best[stack] = nearest[stack]!;
      }
    }
  }
  return best;
}

function byKind(trace: Trace): Groups {
  return {
    groupOf: trace.table("allocations").column("kind") as Int32Array,
    count: MEMORY_KINDS.length,
    label: kindLabel,
    note: () => "",
    selection: () => ({ kind: "none" }),
  };
}

/** The group of what was there before the trace and never met by it. */
export const UNMET = -1;
export const UNMET_LABEL = "before the trace, not used in it";

/** One row of the table: a group and its part of the blocks it was asked for. */
export interface GroupSum {
  readonly group: number;
  readonly bytes: number;
  readonly count: number;
  /** By position in MEMORY_KINDS. */
  readonly bytesOfKind: Float64Array;
}

/** Sums over some blocks, group by group, the largest first. */
export function sumGroups(groups: Groups, blocks: Blocks, among: Iterable<number>): GroupSum[] {
  const sums = new Map<number, { bytes: number; count: number; bytesOfKind: Float64Array }>();
  for (const block of among) {
    const group = groups.groupOf[blocks.rows[block]!] ?? UNMET;
    let sum = sums.get(group);
    if (!sum) {
      sum = { bytes: 0, count: 0, bytesOfKind: new Float64Array(MEMORY_KINDS.length) };
      sums.set(group, sum);
    }
    sum.bytes += blocks.bytes[block]!;
    sum.count++;
    sum.bytesOfKind[blocks.kinds[block]!]! += blocks.bytes[block]!;
  }
  return [...sums]
    .map(([group, sum]) => ({ group, ...sum }))
    .sort((a, b) => b.bytes - a.bytes || b.count - a.count);
}

/** Numbers keys, from -1 on, in the order in which they are met. */
class Numbers {
  readonly keys: number[] = [];
  readonly #numbers: Int32Array;

  constructor(keyCount: number) {
    this.#numbers = new Int32Array(keyCount + 1).fill(-1);
  }

  of(key: number): number {
    const known = this.#numbers[key + 1]!;
    if (known >= 0) {
      return known;
    }
    this.#numbers[key + 1] = this.keys.length;
    return this.keys.push(key) - 1;
  }
}

/** A function of keys, from -1 on, that computes nothing twice; it gives no negative number. */
function remembered(keyCount: number, compute: (key: number) => number): (key: number) => number {
  const known = new Int32Array(keyCount + 1).fill(-1);
  return (key) => {
    if (known[key + 1]! < 0) {
      known[key + 1] = compute(key);
    }
    return known[key + 1]!;
  };
}

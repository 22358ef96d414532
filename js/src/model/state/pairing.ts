/** The ops, grad nodes and groups that are highlighted because of a selection. */

import type { Trace } from "../../trace/trace.ts";
import type { Hierarchy } from "../graph/hierarchy.ts";
import type { Selection } from "./view_state.ts";

/** 1 for each op that a selection highlights. */
export function litOps(trace: Trace, selection: Selection): Uint8Array {
  const lit = new Uint8Array(trace.opCount);
  switch (selection.kind) {
    case "op":
      mark(lit, selection.op);
      break;
    case "grad_node":
      mark(lit, trace.pairedOp(selection.gradNode));
      break;
    case "group":
      markGroup(lit, trace, selection.group);
      break;
    case "tensor":
      markTensor(lit, trace, selection.tensor);
      break;
    case "line":
      markLine(lit, trace, selection.file, selection.line);
      break;
    case "none":
    case "gradient":
    case "allocation":
      break;
  }
  return lit;
}

/** 1 for each highlighted grad node: the nodes of highlighted ops, or only the selected node. */
export function litGradNodes(trace: Trace, selection: Selection, ops: Uint8Array): Uint8Array {
  const lit = new Uint8Array(trace.gradNodeCount);
  if (selection.kind === "none") {
    return lit;
  }
  if (selection.kind === "grad_node") {
    mark(lit, selection.gradNode);
    return lit;
  }
  if (selection.kind === "gradient") {
    mark(lit, trace.at("grad_edges", "source", selection.edge));
    mark(lit, trace.at("grad_edges", "target", selection.edge));
    return lit;
  }
  if (selection.kind === "op") {
    for (const node of trace.gradNodesOfOp(selection.op)) {
      lit[node] = 1;
    }
    return lit;
  }
  const op = trace.pairedOps;
  const parameter = trace.table("grad_nodes").column("parameter");
  for (let node = 0; node < lit.length; node++) {
    const isLeaf = selection.kind === "tensor" && parameter[node] === selection.tensor;
    lit[node] = isLeaf || (op[node]! >= 0 && ops[op[node]!]) ? 1 : 0;
  }
  if (selection.kind === "group") {
    const group = trace.table("grad_node_groups").column("group");
    const inside = insideOf(trace, selection.group);
    for (let node = 0; node < lit.length; node++) {
      if (op[node]! < 0 && group[node]! >= 0 && inside[group[node]!]) {
        lit[node] = 1;
      }
    }
  }
  return lit;
}

/** 1 for each group that contains a highlighted op or grad node, at any depth. */
export function litGroups(
  hierarchy: Hierarchy,
  ops: Uint8Array,
  gradNodes: Uint8Array,
): Uint8Array {
  const lit = new Uint8Array(hierarchy.parents.length);
  const markAround = (group: number): void => {
    for (let at = group; at >= 0 && !lit[at]; at = hierarchy.parents[at]!) {
      lit[at] = 1;
    }
  };
  for (let op = 0; op < ops.length; op++) {
    if (ops[op]) {
      markAround(hierarchy.groupOfOp[op]!);
    }
  }
  for (let node = 0; node < gradNodes.length; node++) {
    if (gradNodes[node]) {
      markAround(hierarchy.groupOfGradNode[node]!);
    }
  }
  return lit;
}

function mark(lit: Uint8Array, key: number): void {
  if (key >= 0 && key < lit.length) {
    lit[key] = 1;
  }
}

/** 1 for `group` and every group inside it. In the table, parents come before children. */
function insideOf(trace: Trace, group: number): Uint8Array {
  const parent = trace.table("groups").column("parent");
  const inside = new Uint8Array(trace.groupCount);
  for (let at = group; at < inside.length; at++) {
    inside[at] = at === group || (parent[at]! >= 0 && inside[parent[at]!]) ? 1 : 0;
  }
  return inside;
}

function markGroup(lit: Uint8Array, trace: Trace, group: number): void {
  const inside = insideOf(trace, group);
  const groupOfOp = trace.table("op_groups").column("group");
  for (let op = 0; op < lit.length; op++) {
    lit[op] = groupOfOp[op]! >= 0 && inside[groupOfOp[op]!] ? 1 : 0;
  }
}

function markTensor(lit: Uint8Array, trace: Trace, tensor: number): void {
  mark(lit, trace.at("tensors", "producer", tensor));
  for (const use of trace.consumersOf(tensor)) {
    mark(lit, trace.at("uses", "op", use));
  }
}

/** Mark every op whose stack contains the line, in a notebook cell or deep inside layers. */
function markLine(lit: Uint8Array, trace: Trace, file: number, line: number): void {
  const frames = trace.table("frames");
  const [files, lines, ends] = trace.columns("frames", "file", "line", "end_line");
  // A line inside a longer statement selects this statement, unless another statement begins on the
  // line.
  const isOnLine = new Uint8Array(frames.length);
  const isInside = new Uint8Array(frames.length);
  let begins = false;
  for (let frame = 0; frame < frames.length; frame++) {
    if (files[frame] !== file || line < lines[frame]!) {
      continue;
    }
    isInside[frame] = line <= Math.max(lines[frame]!, ends[frame]!) ? 1 : 0;
    isOnLine[frame] = line === lines[frame] ? 1 : 0;
    begins ||= isOnLine[frame] === 1;
  }
  lit.set(opsThroughFrames(trace, begins ? isOnLine : isInside));
}

/** 1 for each op whose stack contains one of the given frames. */
export function opsThroughFrames(trace: Trace, isMeant: Uint8Array): Uint8Array {
  const stacks = trace.table("stacks");
  const [frameOf, caller] = trace.columns("stacks", "frame", "caller");
  const passes = new Uint8Array(stacks.length);
  for (let stack = 0; stack < stacks.length; stack++) {
    const isHere = frameOf[stack]! >= 0 && isMeant[frameOf[stack]!];
    passes[stack] = isHere || (caller[stack]! >= 0 && passes[caller[stack]!]) ? 1 : 0;
  }
  const stack = trace.table("ops").column("stack");
  const through = new Uint8Array(trace.opCount);
  for (let op = 0; op < through.length; op++) {
    through[op] = stack[op]! >= 0 ? passes[stack[op]!]! : 0;
  }
  return through;
}

/**
 * What the protocol's column lists leave out: which columns are text, which are keys and into
 * which table, which need 64 bits. Mirrors the column types of `paddle_lab/trace/schema.py`.
 */
import {
  ALLOCATION_KINDS,
  BACKWARD_KINDS,
  EDGE_KINDS,
  EVENT_KINDS,
  FRAME_KINDS,
  GROUP_KINDS,
  HOLDER_KINDS,
  MARK_ROLES,
  PHASES,
  PROGRAM_KINDS,
  ROLES,
  SCOPE_KINDS,
  SEVERITIES,
  type TableName,
  TENSOR_KINDS,
} from "../protocol.ts";

/** Columns that hold positions in the trace's list of strings. */
export const TEXT_COLUMNS: Partial<Record<TableName, readonly string[]>> = {
  ops: ["name", "attributes"],
  tensors: ["name", "dtype", "shape", "place", "path"],
  layers: ["path", "class"],
  scopes: ["name"],
  loops: ["file", "words"],
  turns: ["value"],
  frames: ["file", "function"],
  sources: ["file", "text"],
  backward_calls: ["error"],
  grad_nodes: ["name"],
  grad_edges: ["dtype", "shape"],
  allocations: ["place"],
  memory_totals: ["place"],
  holders: ["name"],
  tensor_holders: ["name"],
  counters: ["name", "device", "source", "unit", "absence"],
  programs: ["feeds", "fetches", "place"],
  attribute_defaults: ["op", "name", "value"],
  events: ["detail"],
  optimizers: ["class"],
  grad_stats: ["shape", "dtype"],
  rerun_differences: ["check", "detail"],
  groups: ["label", "path", "class", "value"],
  findings: ["kind", "message", "advice", "file"],
};

/** Columns that hold rows of another table, or -1. */
export const KEY_COLUMNS: Partial<Record<TableName, Readonly<Record<string, TableName>>>> = {
  ops: { scope: "scopes", stack: "stacks" },
  tensors: { producer: "ops", previous: "tensors", detached_from: "tensors" },
  uses: { op: "ops", tensor: "tensors" },
  layers: { parent: "layers" },
  scopes: { parent: "scopes", layer: "layers", op: "ops", backward_call: "backward_calls" },
  turns: { scope: "scopes", loop: "loops" },
  stacks: { frame: "frames", caller: "stacks" },
  backward_calls: { stack: "stacks", scope: "scopes" },
  grad_nodes: { op: "ops", parameter: "tensors", scope: "scopes" },
  grad_edges: { source: "grad_nodes", target: "grad_nodes" },
  grad_roots: { backward_call: "backward_calls", grad_node: "grad_nodes" },
  grad_targets: { backward_call: "backward_calls", grad_node: "grad_nodes" },
  grad_stops: { backward_call: "backward_calls", tensor: "tensors" },
  allocations: {
    op: "ops",
    grad_node: "grad_nodes",
    scope: "scopes",
    stack: "stacks",
    tensor: "tensors",
  },
  holders: { allocation: "allocations" },
  steps: { scope: "scopes" },
  samples: { counter: "counters" },
  programs: { op: "ops" },
  events: { tensor: "tensors", scope: "scopes", stack: "stacks" },
  living_tensors: { tensor: "tensors" },
  tensor_holders: { tensor: "tensors" },
  tensor_lives: { tensor: "tensors" },
  eval_scopes: { scope: "scopes" },
  optimizer_parameters: { optimizer: "optimizers", tensor: "tensors" },
  value_stats: { tensor: "tensors" },
  grad_stats: { backward_call: "backward_calls", grad_node: "grad_nodes", grad_edge: "grad_edges" },
  grad_histograms: { grad_stat: "grad_stats" },
  rerun_differences: { op: "ops" },
  op_edges: { source: "ops", target: "ops", tensor: "tensors" },
  groups: { parent: "groups", scope: "scopes", first_op: "ops" },
  op_groups: { group: "groups" },
  grad_node_groups: { group: "groups" },
  op_frames: { frame: "frames" },
  backward_members: { backward_call: "backward_calls", grad_node: "grad_nodes" },
  inner_grad_nodes: { grad_node: "grad_nodes", op: "ops" },
  findings: { op: "ops", grad_node: "grad_nodes" },
  finding_marks: { finding: "findings", op: "ops", grad_node: "grad_nodes" },
  stand_ins: { op: "ops", grad_node: "grad_nodes" },
};

/** Columns that hold positions in an enumeration, with its length. */
export const ENUM_SIZES: Partial<Record<TableName, Readonly<Record<string, number>>>> = {
  ops: { phase: PHASES.length },
  tensors: { kind: TENSOR_KINDS.length },
  uses: { role: ROLES.length },
  scopes: { kind: SCOPE_KINDS.length },
  frames: { kind: FRAME_KINDS.length },
  backward_calls: { kind: BACKWARD_KINDS.length },
  allocations: { phase: PHASES.length, kind: ALLOCATION_KINDS.length },
  holders: { kind: HOLDER_KINDS.length },
  op_edges: { kind: EDGE_KINDS.length },
  groups: { kind: GROUP_KINDS.length },
  programs: { kind: PROGRAM_KINDS.length },
  events: { kind: EVENT_KINDS.length },
  findings: { severity: SEVERITIES.length },
  finding_marks: { role: MARK_ROLES.length },
};

/** Keys into their own table that always point at an earlier row: their chains end. */
export const EARLIER_COLUMNS: Partial<Record<TableName, string>> = {
  stacks: "caller",
  groups: "parent",
};

/** Tables with one row for each row of another. */
export const PARALLEL_TABLES: Partial<Record<TableName, TableName>> = {
  op_groups: "ops",
  grad_node_groups: "grad_nodes",
  op_frames: "ops",
};

/** Columns of 64-bit integers, held as doubles (exact up to 2^53: 104 days in ns). */
export const WIDE_COLUMNS: Partial<Record<TableName, readonly string[]>> = {
  ops: ["start_ns", "duration_ns"],
  tensors: ["bytes"],
  grad_nodes: ["address"],
  allocations: ["address", "bytes", "start_ns", "end_ns"],
  memory_totals: ["time_ns", "allocated_bytes", "reserved_bytes"],
  steps: ["time_ns"],
  samples: ["time_ns", "value"],
  value_stats: ["elements", "zeros", "nans", "infs"],
  grad_stats: ["elements", "zeros", "nans", "infs"],
  grad_histograms: ["count"],
};

/** Columns that hold the bits of 32-bit floats: see `floats()`. */
export function floats(bits: Column): Float32Array {
  return new Float32Array(Int32Array.from(bits).buffer);
}

export type Column = Int32Array | Float64Array;

/** The columns of one table. */
export interface Table {
  readonly length: number;
  readonly columns: Readonly<Record<string, Column>>;
}

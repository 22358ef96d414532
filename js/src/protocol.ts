/**
 * The contract with Python: mirrors `paddle_lab/trace/schema.py` (tables, enumerations) and
 * `paddle_lab/trace/pack.py` (bytes). Change both sides together and raise FORMAT_VERSION.
 */

export const FORMAT_VERSION = 1;
export const MAGIC = [0x93, 0x50, 0x44, 0x4c, 0x41, 0x42, 0x0d, 0x0a] as const;

export const PHASES = ["forward", "backward", "optimizer"] as const;
export const ROLES = ["input", "output", "result"] as const;
export const SCOPE_KINDS = [
  "layer",
  "region",
  "pylayer",
  "backward",
  "optimizer",
  "call",
  "turn",
  "sum",
] as const;
export const TENSOR_KINDS = ["activation", "parameter", "buffer", "gradient", "external"] as const;
export const FRAME_KINDS = ["user", "library", "paddle"] as const;
export const BACKWARD_KINDS = [
  "Tensor.backward",
  "paddle.grad",
  "paddle.autograd.backward",
  "remaining",
] as const;
export const EDGE_KINDS = ["data", "detach"] as const;
export const GROUP_KINDS = [
  "layer",
  "region",
  "pylayer",
  "backward",
  "optimizer",
  "call",
  "turn",
] as const;
export const ALLOCATION_KINDS = [
  "temporary",
  "activation",
  "saved_activation",
  "parameter",
  "gradient",
  "optimizer_state",
  "buffer",
  "input",
  "unknown",
] as const;
export const HOLDER_KINDS = [
  "variable",
  "output",
  "traceback",
  "container",
  "backward_graph",
  "view",
  "unknown",
] as const;

export const EVENT_KINDS = [
  "read",
  "created",
  "overwritten",
  "gradient_stopped",
  "gradient_off",
  "gradient_on",
  "stale_gradient",
  "pylayer_rule",
  "rootless_backward",
] as const;
export const PROGRAM_KINDS = ["full_graph", "sot", "executor"] as const;
export const SEVERITIES = ["error", "warning", "info"] as const;
export const MARK_ROLES = ["origin", "path", "cut", "failed", "related"] as const;

/** Table name to its columns. Every column is an integer array; see the Python schema for types. */
export const TABLES = {
  ops: [
    "name",
    "scope",
    "stack",
    "thread",
    "start_ns",
    "duration_ns",
    "phase",
    "attributes",
    "is_pylayer",
    "raised",
  ],
  tensors: [
    "name",
    "dtype",
    "shape",
    "place",
    "stop_gradient",
    "bytes",
    "version",
    "kind",
    "producer",
    "previous",
    "detached_from",
    "path",
  ],
  uses: ["op", "tensor", "role", "slot"],
  layers: ["path", "class", "parent"],
  scopes: ["kind", "name", "parent", "layer", "op", "backward_call", "thread"],
  loops: ["file", "line", "cell", "words"],
  turns: ["scope", "loop", "number", "value"],
  stacks: ["frame", "caller"],
  frames: ["file", "function", "line", "end_line", "column", "end_column", "kind", "cell"],
  sources: ["file", "first_line", "text", "cell"],
  backward_calls: ["kind", "stack", "scope", "ops_before", "create_graph", "retain_graph", "error"],
  grad_nodes: ["name", "address", "op", "parameter", "scope"],
  grad_edges: ["source", "target", "slot", "dtype", "shape"],
  grad_roots: ["backward_call", "grad_node"],
  grad_targets: ["backward_call", "grad_node"],
  grad_stops: ["backward_call", "tensor"],
  allocations: [
    "address",
    "bytes",
    "place",
    "start_ns",
    "end_ns",
    "thread",
    "op",
    "grad_node",
    "scope",
    "stack",
    "phase",
    "tensor",
    "kind",
  ],
  memory_totals: ["time_ns", "place", "allocated_bytes", "reserved_bytes"],
  holders: ["allocation", "kind", "name"],
  steps: ["time_ns", "scope"],
  counters: ["name", "device", "source", "unit", "absence"],
  samples: ["counter", "time_ns", "value"],
  programs: [
    "op",
    "kind",
    "program",
    "ops",
    "all_ops",
    "backward_ops",
    "all_backward_ops",
    "parameters",
    "feeds",
    "fetches",
    "place",
  ],
  attribute_defaults: ["op", "name", "value"],
  events: ["kind", "tensor", "scope", "stack", "ops_before", "thread", "detail"],
  living_tensors: ["tensor"],
  tensor_holders: ["tensor", "name"],
  tensor_lives: ["tensor", "ops_before"],
  eval_scopes: ["scope"],
  optimizers: ["class", "steps"],
  optimizer_parameters: ["optimizer", "tensor"],
  value_stats: [
    "tensor",
    "elements",
    "zeros",
    "nans",
    "infs",
    "smallest",
    "largest",
    "mean",
    "norm",
  ],
  grad_stats: [
    "backward_call",
    "grad_node",
    "grad_edge",
    "shape",
    "dtype",
    "elements",
    "zeros",
    "nans",
    "infs",
    "smallest",
    "largest",
    "mean",
    "norm",
  ],
  grad_histograms: ["grad_stat", "exponent", "is_negative", "count"],
  rerun_differences: ["op", "slot", "check", "detail"],
  op_edges: ["source", "target", "tensor", "slot", "kind"],
  groups: [
    "kind",
    "label",
    "path",
    "class",
    "parent",
    "scope",
    "value",
    "structure",
    "op_count",
    "first_op",
  ],
  op_groups: ["group"],
  grad_node_groups: ["group"],
  op_frames: ["frame"],
  backward_members: ["backward_call", "grad_node"],
  inner_grad_nodes: ["grad_node", "op"],
  findings: ["kind", "severity", "message", "advice", "file", "line", "cell", "op", "grad_node"],
  finding_marks: ["finding", "role", "op", "grad_node"],
  stand_ins: ["op", "grad_node", "count", "leaves"],
} as const;

export type TableName = keyof typeof TABLES;
export type ColumnName<T extends TableName> = (typeof TABLES)[T][number];

/** The header inside the packed bytes. */
export interface PackHeader {
  strings: string[];
  origin: Origin;
  tables: Record<string, { rows: number; columns: Record<string, PackedColumn> }>;
}

export interface PackedColumn {
  dtype: "i1" | "i2" | "i4" | "i8";
  delta: boolean;
}

/** Where the record comes from: text for people. */
export interface Origin {
  title: string;
  created: string;
  paddle: string;
  python: string;
  paddle_lab: string;
  device: string;
  duration_ns: number;
  exception: string;
  /** The user's line that it was raised from; 0 for none. */
  stopped_line: number;
  stopped_file: string;
  /** Execution count of the notebook cell, -1 for a file. */
  stopped_cell: number;
  notices: string[];
  /** What the views speak: "en" or "zh". */
  language: string;
}

/** Asks the surrounding page to show a source line; it calls preventDefault() if it does. */
export interface OpenSourceDetail {
  file: string;
  /** From 1. */
  line: number;
  /** Execution count of the notebook cell, -1 for a file. */
  cell: number;
  /** The whole text of the cell, or lines of the file around it, as they were; "" where unknown. */
  source_text: string;
  /** Number of the text's first line, from 1. */
  first_line: number;
  /**
   * For the page to call, at once or later, where the text is no longer what it was.
   *
   * @returns what to say beside the line
   */
  tell?: (now: LineNow) => string;
}
/** What has become of a line whose cell or file was edited. */
export type LineNow =
  | { state: "kept" | "moved"; line: number }
  /** It is not found in its cell or file, which `show` shows. */
  | { state: "gone"; show: () => void }
  /** No cell has its text, or the file cannot be read. */
  | { state: "missing" };
export const OPEN_SOURCE_EVENT = "paddle-lab:open-source";

/**
 * Tables, columns and enumerations of a record that a page reads. `make generate` writes this file
 * from `paddle_lab/trace/schema.py`, which says what each of them means.
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
  "block",
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
  "sum",
  "block",
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
  "scope",
] as const;
export const PROGRAM_KINDS = ["full_graph", "sot", "executor"] as const;
export const SEVERITIES = ["error", "warning", "info"] as const;
export const MARK_ROLES = ["origin", "path", "cut", "failed", "related"] as const;
export const COMPARE_STATES = ["equal", "different", "only_a", "only_b", "unknown"] as const;
export const COMPARE_ORIGINS = ["", "introduced", "inherited"] as const;

/**
 * Columns of 64-bit integers (`i64`) are held as doubles: exact up to 2^53, 104 days in ns. `enum`
 * is followed by the number of the enumeration's words.
 */
export type ColumnType =
  | "str"
  | "bool"
  | "i32"
  | "i64"
  | "f32"
  | `key:${string}`
  | `enum:${number}`;

/** Maps each table to its columns, and each column to its type. */
export const TABLES = {
  ops: {
    name: "str",
    scope: "key:scopes",
    stack: "key:stacks",
    thread: "i32",
    start_ns: "i64",
    duration_ns: "i64",
    phase: "enum:3",
    attributes: "str",
    is_pylayer: "bool",
    raised: "bool",
  },
  tensors: {
    name: "str",
    dtype: "str",
    shape: "str",
    place: "str",
    stop_gradient: "bool",
    bytes: "i64",
    version: "i32",
    kind: "enum:5",
    producer: "key:ops",
    previous: "key:tensors",
    detached_from: "key:tensors",
    path: "str",
  },
  uses: { op: "key:ops", tensor: "key:tensors", role: "enum:3", slot: "i32" },
  layers: { path: "str", class: "str", parent: "key:layers" },
  scopes: {
    kind: "enum:9",
    name: "str",
    parent: "key:scopes",
    layer: "key:layers",
    op: "key:ops",
    backward_call: "key:backward_calls",
    thread: "i32",
  },
  loops: { file: "str", line: "i32", cell: "i32", words: "str" },
  turns: { scope: "key:scopes", loop: "key:loops", number: "i32", value: "str" },
  stacks: { frame: "key:frames", caller: "key:stacks" },
  frames: {
    file: "str",
    function: "str",
    line: "i32",
    end_line: "i32",
    column: "i32",
    end_column: "i32",
    kind: "enum:3",
    cell: "i32",
  },
  sources: { file: "str", first_line: "i32", text: "str", cell: "i32" },
  backward_calls: {
    kind: "enum:4",
    stack: "key:stacks",
    scope: "key:scopes",
    ops_before: "i32",
    create_graph: "bool",
    retain_graph: "bool",
    error: "str",
  },
  backward_times: {
    backward_call: "key:backward_calls",
    thread: "i32",
    start_ns: "i64",
    duration_ns: "i64",
    own_ns: "i64",
  },
  own_times: { op: "key:ops", own_ns: "i64" },
  grad_nodes: {
    name: "str",
    address: "i64",
    op: "key:ops",
    parameter: "key:tensors",
    scope: "key:scopes",
  },
  grad_edges: {
    source: "key:grad_nodes",
    target: "key:grad_nodes",
    slot: "i32",
    dtype: "str",
    shape: "str",
  },
  allocations: {
    address: "i64",
    bytes: "i64",
    place: "str",
    start_ns: "i64",
    end_ns: "i64",
    thread: "i32",
    op: "key:ops",
    grad_node: "key:grad_nodes",
    scope: "key:scopes",
    stack: "key:stacks",
    phase: "enum:3",
    tensor: "key:tensors",
    kind: "enum:9",
  },
  memory_totals: { time_ns: "i64", place: "str", allocated_bytes: "i64", reserved_bytes: "i64" },
  holders: { allocation: "key:allocations", kind: "enum:8", name: "str" },
  steps: { time_ns: "i64", scope: "key:scopes" },
  programs: {
    op: "key:ops",
    kind: "enum:3",
    program: "i32",
    ops: "i32",
    all_ops: "i32",
    backward_ops: "i32",
    all_backward_ops: "i32",
    parameters: "i32",
    feeds: "str",
    fetches: "str",
    place: "str",
  },
  log: {
    op: "key:ops",
    grad_node: "key:grad_nodes",
    thread: "i32",
    time_ns: "i64",
    level: "i32",
    severity: "str",
    source_file: "str",
    source_line: "i32",
    text: "str",
  },
  program_lines: { program: "i32", file: "str", line: "i32" },
  program_ops: { op: "key:ops" },
  program_grad_nodes: { grad_node: "key:grad_nodes" },
  attribute_defaults: { op: "str", name: "str", value: "str" },
  value_stats: {
    tensor: "key:tensors",
    elements: "i64",
    zeros: "i64",
    nans: "i64",
    infs: "i64",
    smallest: "f32",
    largest: "f32",
    mean: "f32",
    norm: "f32",
  },
  value_deviations: { value_stat: "key:value_stats", deviation: "f32" },
  value_histograms: {
    value_stat: "key:value_stats",
    exponent: "i32",
    is_negative: "bool",
    count: "i64",
  },
  grad_stats: {
    backward_call: "key:backward_calls",
    grad_node: "key:grad_nodes",
    grad_edge: "key:grad_edges",
    shape: "str",
    dtype: "str",
    elements: "i64",
    zeros: "i64",
    nans: "i64",
    infs: "i64",
    smallest: "f32",
    largest: "f32",
    mean: "f32",
    norm: "f32",
  },
  grad_histograms: {
    grad_stat: "key:grad_stats",
    exponent: "i32",
    is_negative: "bool",
    count: "i64",
  },
  kernel_times: {
    op: "key:ops",
    grad_node: "key:grad_nodes",
    runs: "i32",
    launches: "i32",
    host_ns: "i64",
    first_kernel_ns: "i64",
    device_kernels: "i32",
    device_ns: "i64",
    gap_ns: "i64",
  },
  rooflines: { place: "str", dtype: "str", flops_per_second: "i64", bytes_per_second: "i64" },
  compared: {
    op: "key:ops",
    state: "enum:5",
    origin: "enum:3",
    max_abs: "f32",
    max_rel: "f32",
    cosine: "f32",
    ulp: "i64",
    other: "str",
    reason: "str",
  },
  other_frames: { op: "key:ops", frame: "key:frames" },
  compared_grad_nodes: { grad_node: "key:grad_nodes", state: "enum:5" },
  op_edges: {
    source: "key:ops",
    target: "key:ops",
    tensor: "key:tensors",
    slot: "i32",
    kind: "enum:2",
  },
  groups: {
    kind: "enum:9",
    label: "str",
    path: "str",
    class: "str",
    parent: "key:groups",
    scope: "key:scopes",
    value: "str",
    structure: "i32",
    op_count: "i32",
    first_op: "key:ops",
  },
  odd_siblings: {
    group: "key:groups",
    typical: "key:groups",
    siblings: "i32",
    alike: "i32",
    difference: "str",
  },
  layer_names: { name: "str" },
  tensor_layers: { tensor: "key:tensors", name: "str" },
  op_groups: { group: "key:groups", is_initial: "bool" },
  grad_node_groups: { group: "key:groups" },
  stack_frames: { frame: "key:frames" },
  backward_members: { backward_call: "key:backward_calls", grad_node: "key:grad_nodes" },
  inner_grad_nodes: { grad_node: "key:grad_nodes", op: "key:ops" },
  op_costs: { flops: "i64", macs: "i64", output_bytes: "i64", saved_bytes: "i64" },
  grad_node_costs: { flops: "i64", macs: "i64" },
  roofline_shares: { share: "f32", is_compute: "bool" },
  findings: {
    kind: "str",
    severity: "enum:3",
    message: "str",
    advice: "str",
    file: "str",
    line: "i32",
    cell: "i32",
    op: "key:ops",
    grad_node: "key:grad_nodes",
  },
  finding_marks: {
    finding: "key:findings",
    role: "enum:5",
    op: "key:ops",
    grad_node: "key:grad_nodes",
  },
} as const satisfies Record<string, Record<string, ColumnType>>;

export type TableName = keyof typeof TABLES;
export type ColumnName<T extends TableName> = keyof (typeof TABLES)[T] & string;

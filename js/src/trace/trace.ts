/** A trace in the form that views read: its tables, and indexes that are built once. */

import type { Column } from "./columns.ts";
import { RowsByKey } from "./csr.ts";
import {
  BACKWARD_KINDS,
  type ColumnName,
  FRAME_KINDS,
  GROUP_KINDS,
  PHASES,
  ROLES,
  type TableName,
  TENSOR_KINDS,
} from "./protocol.ts";
import type { Origin, Packed } from "./unpack.ts";
import { UnreadTable } from "./unread_table.ts";

export interface TableView<T extends TableName> {
  readonly length: number;
  column(name: ColumnName<T>): Column;
}

/** Lines of source text that a trace carries. */
export interface SourceText {
  /** Number of the first line, from 1. */
  readonly firstLine: number;
  readonly lines: string[];
  /** The whole text, as recorded. */
  readonly text: string;
  /** Execution count of the notebook cell, -1 for a file. */
  readonly cell: number;
}

/** Whether memory was recorded. If not, there are no blocks. */
export function hasMemory(trace: Trace): boolean {
  return trace.table("allocations").length > 0;
}

/**
 * Indexes: the rows of a table by the key in one of its columns. The key refers to another table.
 * Indexes of `uses` contain only one role.
 */
const INDEXES = {
  inputs: ["uses", "op", "ops", "input"],
  outputs: ["uses", "op", "ops", "output"],
  consumers: ["uses", "tensor", "tensors", "input"],
  gradNodes: ["grad_nodes", "op", "ops"],
  edgesFrom: ["op_edges", "source", "ops"],
  edgesInto: ["op_edges", "target", "ops"],
  gradEdgesFrom: ["grad_edges", "source", "grad_nodes"],
  gradEdgesInto: ["grad_edges", "target", "grad_nodes"],
  sources: ["sources", "file"],
  programs: ["programs", "op", "ops"],
} as const satisfies Record<
  string,
  readonly [TableName, string, TableName?, ("input" | "output")?]
>;
type IndexName = keyof typeof INDEXES;

export class Trace {
  readonly strings: readonly string[];
  readonly origin: Origin;
  readonly opCount: number;
  /** The number of ops without the ops of compiled programs, which come last. */
  readonly recordedOpCount: number;
  readonly recordedGradNodeCount: number;
  readonly gradNodeCount: number;
  readonly groupCount: number;

  readonly #tables: Packed["tables"];
  readonly #views: Readonly<Record<TableName, { length: number; column(name: string): Column }>>;
  readonly #indexes: Partial<Record<IndexName, RowsByKey>> = {};
  #pairedOps: Column | undefined;

  constructor(packed: Packed) {
    this.strings = packed.strings;
    this.origin = packed.origin;
    this.#tables = packed.tables;
    this.#views = viewsOf(packed.tables);
    this.opCount = packed.tables.ops.length;
    this.gradNodeCount = packed.tables.grad_nodes.length;
    this.recordedOpCount = this.opCount - packed.tables.program_ops.length;
    this.recordedGradNodeCount = this.gradNodeCount - packed.tables.program_grad_nodes.length;
    this.groupCount = packed.tables.groups.length;
  }

  table<T extends TableName>(name: T): TableView<T> {
    return this.#views[name] as TableView<T>;
  }

  /** Several columns of a table. */
  columns<T extends TableName, Names extends readonly ColumnName<T>[]>(
    table: T,
    ...names: Names
  ): { readonly [At in keyof Names]: Column } {
    const { column } = this.table(table);
    return names.map(column) as { [At in keyof Names]: Column };
  }

  /** Rows of `programs`: the compiled programs that an op ran. */
  programsOf(op: number): Int32Array {
    return this.#rows("programs", op);
  }

  /**
   * Read and check the columns that were not read yet, one table per step.
   *
   * @throws Error with a sentence for the user, if a column refers to a row that does not exist
   */
  *readRest(): Generator<void> {
    for (const table of Object.values(this.#tables)) {
      if (table instanceof UnreadTable) {
        table.readRest();
        yield;
      }
    }
  }

  /** The number in one cell. */
  at<T extends TableName>(table: T, column: ColumnName<T>, row: number): number {
    return this.#tables[table].columns[column]![row]!;
  }

  /** The text in one cell of a text column. */
  textAt<T extends TableName>(table: T, column: ColumnName<T>, row: number): string {
    return this.text(this.at(table, column, row));
  }

  text(code: number): string {
    return this.strings[code] ?? "";
  }

  /** Rows of `uses`: the tensors that the op read, in the order of its arguments. */
  inputsOf(op: number): Int32Array {
    return this.#rows("inputs", op);
  }

  /** Rows of `uses`: the tensors that the op made. */
  outputsOf(op: number): Int32Array {
    return this.#rows("outputs", op);
  }

  /** Rows of `uses`: the ops that read a tensor. */
  consumersOf(tensor: number): Int32Array {
    return this.#rows("consumers", tensor);
  }

  /** The grad nodes paired with an op: made by the op itself or in its recomputation. */
  gradNodesOfOp(op: number): Int32Array {
    return this.#rows("gradNodes", op);
  }

  /** The op paired with each grad node, -1 for none: usually the op that made the node. */
  get pairedOps(): Column {
    this.#pairedOps ??= this.#withInnerPairs();
    return this.#pairedOps;
  }

  pairedOp(gradNode: number): number {
    return this.pairedOps[gradNode] ?? -1;
  }

  #withInnerPairs(): Column {
    const made = this.table("grad_nodes").column("op");
    const inner = this.table("inner_grad_nodes");
    if (!inner.length) return made;
    const paired = Int32Array.from(made);
    const [node, op] = [inner.column("grad_node"), inner.column("op")];
    for (let row = 0; row < inner.length; row++) {
      if (node[row]! >= 0) paired[node[row]!] = op[row]!;
    }
    return paired;
  }

  /** Rows of `op_edges`. */
  edgesFrom(op: number): Int32Array {
    return this.#rows("edgesFrom", op);
  }

  edgesInto(op: number): Int32Array {
    return this.#rows("edgesInto", op);
  }

  /** Rows of `grad_edges`: the nodes to which this node passes gradients. */
  gradEdgesFrom(gradNode: number): Int32Array {
    return this.#rows("gradEdgesFrom", gradNode);
  }

  gradEdgesInto(gradNode: number): Int32Array {
    return this.#rows("gradEdgesInto", gradNode);
  }

  /** Frame keys of the op's Python stack, innermost first. */
  stackOf(op: number): number[] {
    return this.framesOfStack(this.at("ops", "stack", op));
  }

  framesOfStack(stack: number): number[] {
    const frames: number[] = [];
    for (let at = stack; at >= 0; at = this.at("stacks", "caller", at)) {
      frames.push(this.at("stacks", "frame", at));
    }
    return frames;
  }

  /** The innermost frame of the user's own code, which is shown first; -1 for none. */
  ownFrameOf(op: number): number {
    const stack = this.at("ops", "stack", op);
    return stack >= 0 ? (this.at("stack_frames", "frame", stack) ?? -1) : -1;
  }

  /** Group keys from the outermost to `group` itself; none for -1. */
  groupPath(group: number): number[] {
    const path: number[] = [];
    for (let at = group; at >= 0; at = this.at("groups", "parent", at)) {
      path.push(at);
    }
    return path.reverse();
  }

  groupOfOp(op: number): number {
    return this.at("op_groups", "group", op);
  }

  groupOfGradNode(gradNode: number): number {
    return this.at("grad_node_groups", "group", gradNode);
  }

  groupKind(group: number): Exclude<(typeof GROUP_KINDS)[number], "sum"> {
    const kind = GROUP_KINDS[this.at("groups", "kind", group)]!;
    return kind === "sum" ? "block" : kind; // no group is a sum
  }

  phaseOf(op: number): (typeof PHASES)[number] {
    return PHASES[this.at("ops", "phase", op)]!;
  }

  tensorKind(tensor: number): (typeof TENSOR_KINDS)[number] {
    return TENSOR_KINDS[this.at("tensors", "kind", tensor)]!;
  }

  frameKind(frame: number): (typeof FRAME_KINDS)[number] {
    return FRAME_KINDS[this.at("frames", "kind", frame)]!;
  }

  backwardKind(call: number): (typeof BACKWARD_KINDS)[number] {
    return BACKWARD_KINDS[this.at("backward_calls", "kind", call)]!;
  }

  /** The name of an op, such as "matmul". */
  opLabel(op: number): string {
    return this.textAt("ops", "name", op);
  }

  /** The grad node's name without "Node": "MatmulGrad" for "MatmulGradNode". */
  gradNodeLabel(gradNode: number): string {
    return this.textAt("grad_nodes", "name", gradNode).replace(/^(.*Grad)Node(Final)?$/s, "$1");
  }

  /** Path of the layer whose call the op belongs to, "" outside of layers. */
  layerOf(op: number): string {
    for (let at = this.groupOfOp(op); at >= 0; at = this.at("groups", "parent", at)) {
      if (this.groupKind(at) === "layer") {
        return this.groupName(at);
      }
    }
    return "";
  }

  /** Backward call during which an op ran, -1 for none. */
  backwardCallOf(op: number): number {
    for (let at = this.groupOfOp(op); at >= 0; at = this.at("groups", "parent", at)) {
      const scope = this.at("groups", "scope", at);
      if (scope >= 0 && this.at("scopes", "backward_call", scope) >= 0) {
        return this.at("scopes", "backward_call", scope);
      }
    }
    return -1;
  }

  /** A layer's name, as in tables. For other groups, the path. */
  groupName(group: number): string {
    const scope = this.at("groups", "scope", group);
    const layer = scope < 0 ? -1 : this.at("scopes", "layer", scope);
    const name = layer < 0 ? "" : this.textAt("layer_names", "name", layer);
    if (name) return name;
    const path = this.textAt("groups", "path", group);
    return /^(?!\d)./.test(path)
      ? path
      : this.groupPath(group)
          .map((at) => this.groupLabel(at))
          .join(".");
  }

  /** A group's label, such as "layers.0"; the group's class if it has no name. */
  groupLabel(group: number): string {
    return this.textAt("groups", "label", group) || this.textAt("groups", "class", group);
  }

  /** "= 0.1" for an iteration of `for rate in rates`; "" if its value is not a number or a text. */
  turnValue(group: number): string {
    const value = this.textAt("groups", "value", group);
    return value && `= ${value}`;
  }

  /** "weight", "b", "x": the shortest name of a tensor in the user's code; "" for none. */
  tensorLabel(tensor: number): string {
    const path = this.textAt("tensors", "path", tensor);
    return path ? path.slice(path.lastIndexOf(".") + 1) : this.textAt("tensors", "name", tensor);
  }

  /** The source text around a frame's line, as much as the trace contains. */
  sourceOf(frame: number): SourceText | undefined {
    const file = this.at("frames", "file", frame);
    return this.sourceAround(file, this.at("frames", "line", frame));
  }

  /**
   * Source text around a line.
   *
   * @param file the file's name, as a position in `strings`
   * @param line from 1
   */
  sourceAround(file: number, line: number): SourceText | undefined {
    for (const row of this.#rows("sources", file)) {
      const firstLine = this.at("sources", "first_line", row);
      const text = this.textAt("sources", "text", row);
      const lines = text.split("\n");
      if (line >= firstLine && line < firstLine + lines.length) {
        return { firstLine, lines, text, cell: this.at("sources", "cell", row) };
      }
    }
    return undefined;
  }

  /** The rows with a key. The index is built at the first use. */
  #rows(name: IndexName, key: number): Int32Array {
    let index = this.#indexes[name];
    if (!index) {
      const [table, column, target, role] = INDEXES[name];
      const keys = name === "gradNodes" ? this.pairedOps : this.#tables[table].columns[column]!;
      const count = target ? this.#tables[target].length : this.strings.length;
      const only = role && {
        column: this.table("uses").column("role"),
        value: ROLES.indexOf(role),
      };
      index = RowsByKey.index(keys, count, only);
      this.#indexes[name] = index;
    }
    return index.of(key);
  }
}

function viewsOf(
  tables: Packed["tables"],
): Record<TableName, { length: number; column(name: string): Column }> {
  const views = Object.entries(tables).map(([name, table]) => [
    name,
    { length: table.length, column: (column: string) => table.columns[column]! },
  ]);
  return Object.fromEntries(views);
}

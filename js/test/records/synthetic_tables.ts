/** A trace's tables, filled by hand, packed as Python would send them. */

import {
  FRAME_KINDS,
  GROUP_KINDS,
  SCOPE_KINDS,
  TABLES,
  type TableName,
  TENSOR_KINDS,
} from "../../src/trace/protocol.ts";
import { Trace } from "../../src/trace/trace.ts";
import type { Origin } from "../../src/trace/unpack.ts";
import { unpack } from "../../src/trace/unpack.ts";
import { pack, type Rows } from "./pack.ts";

/** Rows of a trace, written one by one: sources, groups, tensors. */
export class SyntheticTables {
  readonly tables: Record<TableName, Rows>;
  readonly strings: string[] = [""];
  readonly origin: Partial<Origin> = {
    title: "Cell 4",
    paddle: "3.3.1",
    duration_ns: 38_000_000,
    notices: [],
  };
  #codes = new Map<string, number>([["", 0]]);

  constructor() {
    this.tables = Object.fromEntries(
      Object.entries(TABLES).map(([name, columns]) => [
        name,
        Object.fromEntries(Object.keys(columns).map((column) => [column, []])),
      ]),
    ) as unknown as Record<TableName, Rows>;
  }

  text(text: string): number {
    let code = this.#codes.get(text);
    if (code === undefined) {
      code = this.strings.push(text) - 1;
      this.#codes.set(text, code);
    }
    return code;
  }

  add(table: TableName, row: Record<string, number>): number {
    const rows = this.tables[table];
    const columns = Object.keys(TABLES[table]);
    for (const column of columns) {
      rows[column]!.push(row[column] ?? 0);
    }
    return rows[columns[0]!]!.length - 1;
  }

  frame(
    file: string,
    line: number,
    functionName = "<module>",
    kind: (typeof FRAME_KINDS)[number] = "user",
  ): number {
    return this.add("frames", {
      file: this.text(file),
      function: this.text(functionName),
      line,
      end_line: line,
      column: -1,
      end_column: -1,
      kind: FRAME_KINDS.indexOf(kind),
      cell: -1,
    });
  }

  stack(frame: number, caller = -1): number {
    const stack = this.add("stacks", { frame, caller });
    this.add("stack_frames", { frame: this.#shownFrame(stack) });
    return stack;
  }

  /** As `paddle_lab/analysis/source/user_frames.py` finds it. */
  #shownFrame(stack: number): number {
    const { frame, caller } = this.tables.stacks as Record<"frame" | "caller", number[]>;
    const frames: number[] = [];
    for (let at = stack; at >= 0; at = caller[at]!) frames.push(frame[at]!);
    const first = (kind: (typeof FRAME_KINDS)[number]): number | undefined =>
      frames.find((at) => this.tables.frames.kind![at] === FRAME_KINDS.indexOf(kind));
    return first("user") ?? first("library") ?? frame[stack]!;
  }

  group(
    label: string,
    options: {
      parent?: number;
      className?: string;
      kind?: (typeof GROUP_KINDS)[number];
      structure?: number;
    } = {},
  ): number {
    const { parent = -1, className = "Layer", kind = "layer", structure = -1 } = options;
    // As in a record: the paths in a model do not say its name.
    const isInModel = parent >= 0 && this.tables.groups.parent![parent]! >= 0;
    const above = isInModel ? this.strings[this.tables.groups.path![parent]!]! : "";
    const scopeKind = (SCOPE_KINDS as readonly string[]).indexOf(kind);
    const scope =
      scopeKind < 0
        ? -1
        : this.add("scopes", {
            kind: scopeKind,
            name: this.text(label),
            parent: parent >= 0 ? this.tables.groups.scope![parent]! : -1,
            layer: -1,
            op: -1,
            backward_call: -1,
          });
    return this.add("groups", {
      kind: GROUP_KINDS.indexOf(kind),
      label: this.text(label),
      path: this.text(above ? `${above}.${label}` : label),
      class: this.text(className),
      parent,
      scope,
      structure,
      op_count: 0,
      first_op: -1,
    });
  }

  tensor(
    shape: string,
    options: {
      kind?: (typeof TENSOR_KINDS)[number];
      name?: string;
      path?: string;
      producer?: number;
    } = {},
  ): number {
    return this.add("tensors", {
      name: this.text(options.name ?? ""),
      dtype: this.text("float32"),
      shape: this.text(shape),
      place: this.text("cpu"),
      bytes: 96,
      kind: TENSOR_KINDS.indexOf(options.kind ?? "activation"),
      producer: options.producer ?? -1,
      previous: -1,
      detached_from: -1,
      path: this.text(options.path ?? ""),
    });
  }

  bytes(): Uint8Array {
    return pack(this.strings, this.origin, this.tables);
  }

  async trace(): Promise<Trace> {
    return new Trace(await unpack(this.bytes()));
  }
}

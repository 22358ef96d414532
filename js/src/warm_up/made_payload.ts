/**
 * A small trace that never ran, packed as a kernel packs those that did: a straight line of ops, a quarter of them
 * in layers that repeat, each op with a grad node and a line of its own.
 */

import type { PackedColumn, PackHeader } from "../model/pack_header.ts";
import { FORMAT_VERSION, MAGIC, ROLES, TABLES, type TableName } from "../protocol.ts";

type Values = Readonly<Record<string, (row: number) => number>>;

interface MadeTable {
  readonly rows: number;
  /** What is not the same in every row: elsewhere keys are -1, other numbers 0. */
  readonly values: Values;
}

const STRINGS = ["", "tanh", "add", "[4]", "float32", "cpu", "x", "0", "blocks", "Block"];
const OPS_A_LAYER = 4;
/** Clocks and addresses are long numbers. */
const ADDRESS = 2 ** 40;

/** @param opCount a multiple of 16 */
export async function madePayload(opCount: number): Promise<Uint8Array> {
  const tables: PackHeader["tables"] = {};
  const columns: Uint8Array[] = [];
  for (const [name, { rows, values }] of Object.entries(madeTables(opCount))) {
    const described: Record<string, PackedColumn> = {};
    for (const [column, type] of Object.entries(TABLES[name as TableName])) {
      const other = type.startsWith("key:") ? -1 : 0;
      const numbers = Float64Array.from(
        { length: rows },
        (_, row) => values[column]?.(row) ?? other,
      );
      described[column] = addColumn(columns, numbers);
    }
    tables[name] = { rows, columns: described };
  }
  const strings = [...STRINGS, "x = paddle.tanh(x)\n".repeat(opCount)];
  const header = new TextEncoder().encode(JSON.stringify({ strings, origin: {}, tables }));
  const room = new Uint8Array(header.length + ((12 - (header.length % 8)) % 8)).fill(32);
  room.set(header);
  const raw = new Blob([Uint32Array.of(room.length), room, ...(columns as BlobPart[])]);
  const stream = raw.stream().pipeThrough(new CompressionStream("deflate"));
  const packed = await new Response(stream).arrayBuffer();
  const whole = new Blob([Uint8Array.from(MAGIC), Uint32Array.of(FORMAT_VERSION), packed]);
  return new Uint8Array(await whole.arrayBuffer());
}

function madeTables(count: number): Partial<Record<TableName, MadeTable>> {
  const itself = (row: number): number => row;
  const before = (row: number): number => row - 1;
  const layered = count / 4;
  const layerOf = (op: number): number => (op < layered ? Math.floor(op / OPS_A_LAYER) : -1);
  const text = (): number => STRINGS.length;
  return {
    ops: {
      rows: count,
      values: { name: (op) => 1 + (op % 2), stack: itself, start_ns: (op) => ADDRESS + 900 * op },
    },
    tensors: {
      rows: count + 1,
      values: { dtype: () => 4, shape: () => 3, place: () => 5, producer: before, bytes: () => 16 },
    },
    uses: {
      rows: 2 * count,
      values: {
        op: (use) => use >> 1,
        tensor: (use) => (use + 1) >> 1,
        role: (use) => ROLES.indexOf(use % 2 ? "output" : "input"),
      },
    },
    stacks: { rows: count, values: { frame: itself } },
    frames: { rows: count, values: { file: () => 6, line: (frame) => frame + 1 } },
    sources: { rows: 1, values: { file: () => 6, first_line: () => 1, text } },
    op_frames: { rows: count, values: { frame: itself } },
    op_edges: {
      rows: count - 1,
      values: { source: itself, target: (op) => op + 1, tensor: (op) => op + 1 },
    },
    groups: {
      rows: layered / OPS_A_LAYER,
      values: {
        label: () => 7,
        path: () => 8,
        class: () => 9,
        op_count: () => OPS_A_LAYER,
        first_op: (group) => group * OPS_A_LAYER,
      },
    },
    op_groups: { rows: count, values: { group: layerOf } },
    grad_nodes: {
      rows: count,
      values: { name: () => 1, address: (node) => ADDRESS + 64 * node, op: itself },
    },
    grad_node_groups: { rows: count, values: { group: layerOf } },
    grad_edges: {
      rows: count - 1,
      values: { source: (node) => node + 1, target: itself, dtype: () => 4, shape: () => 3 },
    },
    backward_calls: { rows: 1, values: {} },
    backward_members: { rows: count, values: { backward_call: () => 0, grad_node: itself } },
  };
}

const WIDTHS = [
  [1, "i1"],
  [2, "i2"],
  [4, "i4"],
  [8, "i8"],
] as const;

/** As narrow as it can be stored; of ascending numbers the differences. */
function addColumn(columns: Uint8Array[], numbers: Float64Array): PackedColumn {
  const rows = numbers.length;
  const delta = rows > 2 && numbers[2]! >= numbers[1]! && numbers[1]! >= numbers[0]!;
  const stored = delta ? numbers.map((number, row) => number - (numbers[row - 1] ?? 0)) : numbers;
  let most = 0;
  for (const number of stored) {
    most = Math.max(most, Math.abs(number));
  }
  const [width, dtype] = WIDTHS.find(([bytes]) => most < 2 ** (8 * bytes - 1))!;
  // Columns begin at multiples of 8 bytes.
  const bytes = new Uint8Array(8 * Math.ceil((rows * width) / 8));
  const one = new DataView(new ArrayBuffer(8));
  for (let row = 0; row < rows; row++) {
    one.setBigInt64(0, BigInt(stored[row]!), true);
    for (let plane = 0; plane < width; plane++) {
      bytes[plane * rows + row] = one.getUint8(plane);
    }
  }
  columns.push(bytes);
  return { dtype, delta };
}

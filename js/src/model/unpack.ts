/** Bytes to tables; the format is described in `paddle_lab/trace/pack.py`. */
import {
  FORMAT_VERSION,
  MAGIC,
  type Origin,
  type PackedColumn,
  type PackHeader,
  TABLES,
  type TableName,
} from "../protocol.ts";
import { type Column, type Table, WIDE_COLUMNS } from "./columns.ts";
import { inflate } from "./inflate.ts";
import { checkReferences, DAMAGED } from "./references.ts";

export interface Packed {
  readonly strings: string[];
  readonly origin: Origin;
  readonly tables: Readonly<Record<TableName, Table>>;
}

const HEADER_START_BYTES = MAGIC.length + 4;
const ALIGNMENT_BYTES = 8;
const WIDTH_BYTES = { i1: 1, i2: 2, i4: 4, i8: 8 } as const;

/**
 * Read a packed record.
 *
 * @throws Error with one sentence for people, if the bytes are no trace, of a newer version, cut
 *   short or altered.
 */
export async function unpack(bytes: Uint8Array): Promise<Packed> {
  if (bytes.length < MAGIC.length || MAGIC.some((byte, i) => bytes[i] !== byte)) {
    throw new Error("This is not a paddle_lab trace.");
  }
  if (bytes.length < HEADER_START_BYTES) {
    throw new Error(DAMAGED);
  }
  const version = new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC.length, true);
  if (version > FORMAT_VERSION) {
    throw new Error(
      `This trace is of format ${version}, newer than this viewer reads (${FORMAT_VERSION}); ` +
        "update paddle_lab to see it.",
    );
  }
  try {
    return readPayload(await inflate(bytes.subarray(HEADER_START_BYTES)));
  } catch (error) {
    throw new Error(DAMAGED, { cause: error });
  }
}

function readPayload(payload: Uint8Array<ArrayBuffer>): Packed {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const headerLength = view.getUint32(0, true);
  if (4 + headerLength > payload.length) {
    throw new RangeError("header longer than the payload");
  }
  const header: PackHeader = JSON.parse(
    new TextDecoder().decode(payload.subarray(4, 4 + headerLength)),
  );
  if (!header.strings.every((text) => typeof text === "string") || !header.strings.length) {
    throw new TypeError("strings are no strings");
  }
  const tables = readTables(header, view, 4 + headerLength);
  checkReferences(tables, header.strings.length);
  return { strings: header.strings, origin: readOrigin(header.origin), tables };
}

function readTables(
  header: PackHeader,
  view: DataView<ArrayBuffer>,
  start: number,
): Record<TableName, Table> {
  const tables = new Map<string, Table>();
  let offset = start;
  for (const [tableName, { rows, columns }] of Object.entries(header.tables)) {
    if (!Number.isInteger(rows) || rows < 0) {
      throw new RangeError("a number of rows that is none");
    }
    const known = Object.hasOwn(TABLES, tableName);
    const wide = known ? (WIDE_COLUMNS[tableName as TableName] ?? []) : [];
    const read: Record<string, Column> = Object.create(null);
    for (const [columnName, stored] of Object.entries(columns)) {
      const size = rows * widthOf(stored);
      if (offset + size > view.byteLength) {
        throw new RangeError("a column reaches past the end");
      }
      if (known) {
        read[columnName] = readColumn(view, offset, rows, stored, wide.includes(columnName));
      }
      offset += size + ((ALIGNMENT_BYTES - (size % ALIGNMENT_BYTES)) % ALIGNMENT_BYTES);
    }
    tables.set(tableName, { length: rows, columns: read });
  }
  return Object.fromEntries(
    Object.entries(TABLES).map(([name, columns]) => {
      const table = tables.get(name) ?? { length: 0, columns: {} };
      const complete = columns.map((column) => [column, table.columns[column] ?? missing(table)]);
      return [name, { length: table.length, columns: Object.fromEntries(complete) }];
    }),
  ) as Record<TableName, Table>;
}

function missing(table: Table): Column {
  if (table.length) {
    throw new TypeError("a column is missing");
  }
  return new Int32Array(0);
}

function widthOf(stored: PackedColumn): number {
  const width = WIDTH_BYTES[stored.dtype];
  if (!width) {
    throw new TypeError("unknown column type");
  }
  return width;
}

function readColumn(
  view: DataView<ArrayBuffer>,
  offset: number,
  rows: number,
  stored: PackedColumn,
  isWide: boolean,
): Column {
  const planes = { buffer: view.buffer, start: view.byteOffset + offset, rows };
  if (stored.dtype === "i8") {
    return readDoubles(planes, stored.delta);
  }
  const values = readIntegers(planes, 0, widthOf(stored));
  if (isWide) {
    const column = new Float64Array(values);
    return stored.delta ? summedUp(column) : column;
  }
  return stored.delta ? summedUp(values) : values;
}

/** Where a column's bytes are: the lowest bytes of all rows come first. */
interface Planes {
  readonly buffer: ArrayBuffer;
  readonly start: number;
  readonly rows: number;
}

/** Signed integers of `width` planes from `first` on. A loop for each width: they are the hot ones. */
function readIntegers({ buffer, start, rows }: Planes, first: number, width: number): Int32Array {
  const plane = (i: number) => new Uint8Array(buffer, start + (first + i) * rows, rows);
  const high = new Int8Array(buffer, start + (first + width - 1) * rows, rows);
  const values = new Int32Array(high);
  if (width === 2) {
    const low = plane(0);
    for (let row = 0; row < rows; row++) {
      values[row] = (high[row]! << 8) | low[row]!;
    }
  } else if (width === 4) {
    const [low, second, third] = [plane(0), plane(1), plane(2)];
    for (let row = 0; row < rows; row++) {
      values[row] = (high[row]! << 24) | (third[row]! << 16) | (second[row]! << 8) | low[row]!;
    }
  }
  return values;
}

/** Integers of eight bytes, as doubles. */
function readDoubles(planes: Planes, isDelta: boolean): Float64Array {
  const low = readIntegers(planes, 0, 4);
  const column = new Float64Array(readIntegers(planes, 4, 4));
  for (let row = 0; row < planes.rows; row++) {
    column[row] = column[row]! * 2 ** 32 + (low[row]! >>> 0);
  }
  return isDelta ? summedUp(column) : column;
}

function summedUp<T extends Column>(differences: T): T {
  let sum = 0;
  for (let row = 0; row < differences.length; row++) {
    sum += differences[row]!;
    differences[row] = sum;
  }
  return differences;
}

function readOrigin(origin: Partial<Origin>): Origin {
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  return {
    title: text(origin.title),
    created: text(origin.created),
    paddle: text(origin.paddle),
    python: text(origin.python),
    paddle_lab: text(origin.paddle_lab),
    device: text(origin.device),
    duration_ns: Number(origin.duration_ns) || 0,
    exception: text(origin.exception),
    notices: Array.isArray(origin.notices) ? origin.notices.map(text) : [],
  };
}

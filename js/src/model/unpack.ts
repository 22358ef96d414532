/** Bytes to tables; the format is described in `paddle_lab/trace/pack.py`. */
import {
  FORMAT_VERSION,
  MAGIC,
  type Origin,
  type PackHeader,
  TABLES,
  type TableName,
} from "../protocol.ts";
import { type Column, type Table, WIDE_COLUMNS } from "./columns.ts";
import { inflate } from "./inflate.ts";
import { readColumn, widthOf } from "./packed_column.ts";
import { checkReferences, DAMAGED } from "./references.ts";

export interface Packed {
  readonly strings: string[];
  readonly origin: Origin;
  readonly tables: Readonly<Record<TableName, Table>>;
}

const HEADER_START_BYTES = MAGIC.length + 4;
const ALIGNMENT_BYTES = 8;

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
        const planes = { buffer: view.buffer, start: view.byteOffset + offset, rows };
        read[columnName] = readColumn(planes, stored, wide.includes(columnName));
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

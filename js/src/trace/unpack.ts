/** Bytes to tables; the format is described in `paddle_lab/trace/pack.py`. */

import type { Origin, PackHeader } from "../model/pack_header.ts";
import { t } from "../words/loader.ts";
import { EARLIER_COLUMNS, type Table } from "./columns.ts";
import { inflate } from "./inflate.ts";
import { widthOf } from "./packed_column.ts";
import { FORMAT_VERSION, MAGIC, TABLES, type TableName } from "./protocol.ts";
import { checkReferences, damaged, valueRanges } from "./references.ts";
import { type StoredColumn, type UnreadColumn, UnreadTable } from "./unread_table.ts";

export interface Packed {
  readonly strings: string[];
  readonly origin: Origin;
  readonly tables: Readonly<Record<TableName, Table>>;
}

/** Tables of fewer rows are read, and checked, in no time; of others only what is asked for. */
const FEW_ROWS = 1000;
const NO_COLUMN: StoredColumn = { stored: { dtype: "i1", delta: false }, start: 0 };
const HEADER_START_BYTES = MAGIC.length + 4;
const ALIGNMENT_BYTES = 8;

/**
 * Read a packed record.
 *
 * @throws Error with one sentence for people, if the bytes are no trace, of another format,
 *   cut short or altered.
 */
export async function unpack(bytes: Uint8Array): Promise<Packed> {
  const start = streamStart(bytes);
  let payload: Uint8Array<ArrayBuffer>;
  try {
    payload = await inflate(bytes.subarray(start));
  } catch (error) {
    throw damaged(error);
  }
  return readInflated(payload);
}

/**
 * Position of a packed record's zlib stream.
 *
 * @param bytes the record's first ones
 * @throws Error with one sentence for people, if it is no trace or of another format
 */
export function streamStart(bytes: Uint8Array): number {
  if (bytes.length < MAGIC.length || MAGIC.some((byte, i) => bytes[i] !== byte)) {
    throw new Error(t("no_trace"));
  }
  if (bytes.length < HEADER_START_BYTES) {
    throw damaged();
  }
  const version = new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC.length, true);
  if (version !== FORMAT_VERSION) {
    throw new Error(t("other_format", { version, known: FORMAT_VERSION }));
  }
  return HEADER_START_BYTES;
}

/**
 * Read what the zlib stream of a packed record holds.
 *
 * @throws Error with one sentence for people, if it was cut short or altered
 */
export function readInflated(payload: Uint8Array<ArrayBuffer>): Packed {
  try {
    return readPayload(payload);
  } catch (error) {
    throw damaged(error);
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
  const names = Object.keys(tables) as TableName[];
  const unread = new Set(names.filter((name) => tables[name] instanceof UnreadTable));
  checkReferences(tables, header.strings.length, unread);
  return { strings: header.strings, origin: readOrigin(header.origin), tables };
}

function readTables(
  header: PackHeader,
  view: DataView<ArrayBuffer>,
  start: number,
): Record<TableName, Table> {
  const tables = new Map<string, Table>();
  let offset = start;
  for (const [name, { rows, columns }] of Object.entries(header.tables)) {
    if (!Number.isInteger(rows) || rows < 0) {
      throw new RangeError("a number of rows that is none");
    }
    const first = offset;
    const places = new Map<string, StoredColumn>();
    for (const [column, stored] of Object.entries(columns)) {
      const size = rows * widthOf(stored);
      if (offset + size > view.byteLength) {
        throw new RangeError("a column reaches past the end");
      }
      places.set(column, { stored, start: offset - first });
      offset += size + ((ALIGNMENT_BYTES - (size % ALIGNMENT_BYTES)) % ALIGNMENT_BYTES);
    }
    if (Object.hasOwn(TABLES, name)) {
      const end = Math.min(offset, view.byteLength);
      const bytes = new Uint8Array(view.buffer, view.byteOffset + first, end - first);
      tables.set(name, readTable(header, name as TableName, { rows, bytes, places }));
    }
  }
  const all = Object.keys(TABLES) as TableName[];
  const nothing = { rows: 0, bytes: new Uint8Array(0), places: new Map() };
  return Object.fromEntries(
    all.map((name) => [name, tables.get(name) ?? readTable(header, name, nothing)]),
  ) as Record<TableName, Table>;
}

interface StoredTable {
  readonly rows: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly places: ReadonlyMap<string, StoredColumn>;
}

/** A table's columns; of one that is not small, where they lie. */
function readTable(
  header: PackHeader,
  name: TableName,
  { rows, bytes, places }: StoredTable,
): Table {
  const lengthOf = (target: TableName): number => header.tables[target]?.rows ?? 0;
  const isLater = rows >= FEW_ROWS;
  const ranges = isLater ? valueRanges(name, lengthOf, header.strings.length) : {};
  const earlier = isLater ? EARLIER_COLUMNS[name] : undefined;
  const columns: Record<string, UnreadColumn> = {};
  for (const [column, type] of Object.entries(TABLES[name])) {
    const place = places.get(column) ?? NO_COLUMN;
    if (place === NO_COLUMN && rows) {
      throw new TypeError("a column is missing");
    }
    const range = ranges[column];
    columns[column] = { ...place, isWide: type === "i64", range, isEarlier: column === earlier };
  }
  const table = new UnreadTable({ rows, bytes, columns });
  // What is read now is checked with the tables that it points into.
  return isLater ? table : { length: rows, columns: { ...table.columns } };
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
    stopped_line: Number(origin.stopped_line) || 0,
    stopped_file: text(origin.stopped_file),
    stopped_cell: typeof origin.stopped_cell === "number" ? origin.stopped_cell : -1,
    notices: Array.isArray(origin.notices) ? origin.notices.map(text) : [],
    language: text(origin.language),
  };
}

/** Turns bytes into tables. `paddle_lab/trace/pack.py` describes the format. */

import { t } from "../words/loader.ts";
import type { Table } from "./columns.ts";
import { inflate } from "./inflate.ts";
import { type PackedColumn, widthOf } from "./packed_column.ts";
import { FORMAT_VERSION, MAGIC, TABLES, type TableName } from "./protocol.ts";
import { damaged, PARALLEL_TABLES, valueRanges } from "./references.ts";
import { type UnreadColumn, UnreadTable } from "./unread_table.ts";

export interface Packed {
  readonly strings: string[];
  readonly origin: Origin;
  readonly tables: Readonly<Record<TableName, Table>>;
}

/** Facts for users about the record: its title, when it was made, and so on. */
export interface Origin {
  title: string;
  created: string;
  paddle: string;
  python: string;
  paddle_lab: string;
  device: string;
  duration_ns: number;
  exception: string;
  /** The user's line that raised the exception; 0 for none. */
  stopped_line: number;
  stopped_file: string;
  /** Execution count of the notebook cell, -1 for a file. */
  stopped_cell: number;
  notices: string[];
  /** Which ops the record keeps, if more ran; "" if it keeps all. */
  kept: string;
  /** Language of the views: "en" or "zh". */
  language: string;
}

/** The header inside the packed bytes. */
interface PackHeader {
  strings: string[];
  origin: Partial<Origin>;
  tables: Record<string, { rows: number; columns: Record<string, PackedColumn> }>;
}

/** Smaller tables are read and checked at once; columns of larger ones on first use. */
const FEW_ROWS = 1000;
const HEADER_START_BYTES = MAGIC.length + 4;
const ALIGNMENT_BYTES = 8;

/**
 * Read a packed record.
 *
 * @throws Error with a sentence for the user, if the bytes are not a trace, have another format, or
 *   are cut short or altered.
 */
export async function unpack(bytes: Uint8Array): Promise<Packed> {
  checkStart(bytes);
  try {
    return readPayload(await inflate(bytes.subarray(HEADER_START_BYTES)));
  } catch (error) {
    throw damaged(error);
  }
}

function checkStart(bytes: Uint8Array): void {
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
  const tables = readTables(header, payload, 4 + headerLength);
  for (const [name, other] of Object.entries(PARALLEL_TABLES)) {
    const { length } = tables[name as TableName];
    if (length && length !== tables[other].length) {
      throw new RangeError(`${name} and ${other} differ in length`);
    }
  }
  return { strings: header.strings, origin: readOrigin(header.origin), tables };
}

interface StoredTable {
  readonly rows: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly columns: Readonly<Record<string, Pick<UnreadColumn, "stored" | "start">>>;
}

const NO_TABLE: StoredTable = { rows: 0, bytes: new Uint8Array(0), columns: {} };
const NO_COLUMN = { stored: { dtype: "i1", delta: false }, start: 0 } as const;

function readTables(
  header: PackHeader,
  payload: Uint8Array<ArrayBuffer>,
  start: number,
): Record<TableName, Table> {
  const found = new Map<string, StoredTable>();
  let offset = start;
  for (const [name, { rows, columns }] of Object.entries(header.tables)) {
    if (!Number.isInteger(rows) || rows < 0) {
      throw new RangeError("a number of rows that is none");
    }
    const first = offset;
    const places: Record<string, Pick<UnreadColumn, "stored" | "start">> = {};
    for (const [column, stored] of Object.entries(columns)) {
      const size = rows * widthOf(stored);
      if (offset + size > payload.length) {
        throw new RangeError("a column reaches past the end");
      }
      places[column] = { stored, start: offset - first };
      offset += size + ((ALIGNMENT_BYTES - (size % ALIGNMENT_BYTES)) % ALIGNMENT_BYTES);
    }
    found.set(name, { rows, bytes: payload.subarray(first, offset), columns: places });
  }
  const lengthOf = (name: string): number => found.get(name)?.rows ?? 0;
  const tables = (Object.keys(TABLES) as TableName[]).map((name) => {
    const ranges = valueRanges(name, lengthOf, header.strings.length);
    return [name, readTable(name, found.get(name) ?? NO_TABLE, ranges)];
  });
  return Object.fromEntries(tables);
}

/** A table's columns; columns of large tables are read later. */
function readTable(
  name: TableName,
  { rows, bytes, columns: stored }: StoredTable,
  ranges: ReturnType<typeof valueRanges>,
): Table {
  const columns: Record<string, UnreadColumn> = {};
  for (const [column, type] of Object.entries(TABLES[name])) {
    if (!stored[column] && rows) {
      throw new TypeError("a column is missing");
    }
    const place = stored[column] ?? NO_COLUMN;
    columns[column] = { ...place, isWide: type === "i64", range: ranges[column] };
  }
  const table = new UnreadTable({ rows, bytes, columns });
  if (rows < FEW_ROWS) {
    table.readRest();
  }
  return table;
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
    kept: text(origin.kept),
    language: text(origin.language),
  };
}

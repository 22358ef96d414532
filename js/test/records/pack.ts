/// <reference types="node" />
/** Packs tables as `paddle_lab/trace/pack.py` does, in the widest form, for traces made in tests. */
import { deflateSync } from "node:zlib";
import { FORMAT_VERSION, MAGIC } from "../../src/trace/protocol.ts";
import type { Origin } from "../../src/trace/unpack.ts";

export type Rows = Record<string, number[]>;

/** Bytes of equal weight together: the lowest of all rows first. */
function planes(raw: Buffer, width: number): Buffer {
  const rows = raw.length / width;
  return Buffer.from(raw.map((_, at) => raw[(at % rows) * width + Math.floor(at / rows)]!));
}

export function pack(
  strings: string[],
  origin: Partial<Origin>,
  tables: Record<string, Rows>,
): Uint8Array {
  const description: Record<string, unknown> = {};
  const columns: Buffer[] = [];
  for (const [tableName, rows] of Object.entries(tables)) {
    const described: Record<string, unknown> = {};
    for (const [columnName, values] of Object.entries(rows)) {
      const isWide = values.some((value) => Math.abs(value) > 2 ** 31 - 1);
      described[columnName] = { dtype: isWide ? "i8" : "i4", delta: false };
      const raw = isWide
        ? Buffer.from(BigInt64Array.from(values.map(BigInt)).buffer)
        : Buffer.from(Int32Array.from(values).buffer);
      columns.push(planes(raw, isWide ? 8 : 4), Buffer.alloc((8 - (raw.length % 8)) % 8));
    }
    description[tableName] = { rows: Object.values(rows)[0]?.length ?? 0, columns: described };
  }
  let header = JSON.stringify({ strings, origin, tables: description });
  header += " ".repeat((8 - ((Buffer.byteLength(header) + 4) % 8)) % 8);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(Buffer.byteLength(header));
  const version = Buffer.alloc(4);
  version.writeUInt32LE(FORMAT_VERSION);
  const payload = Buffer.concat([length, Buffer.from(header), ...columns]);
  return Buffer.concat([Buffer.from(MAGIC), version, deflateSync(payload)]);
}

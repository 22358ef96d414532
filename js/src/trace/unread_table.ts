/** A table whose columns are read and checked on first use. */

import type { Column, Table } from "./columns.ts";
import { type PackedColumn, readColumn } from "./packed_column.ts";
import { checkRange, type ValueRange } from "./references.ts";

/** A column in the payload. */
export interface UnreadColumn {
  readonly stored: PackedColumn;
  /** The position of the column's first byte in the table's bytes. */
  readonly start: number;
  readonly isWide: boolean;
  /** The allowed values of a column that holds row numbers. */
  readonly range?: ValueRange | undefined;
}

export interface UnreadColumns {
  readonly rows: number;
  /** The bytes of the whole table. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly columns: Readonly<Record<string, UnreadColumn>>;
}

export class UnreadTable implements Table {
  readonly length: number;
  /** Each is read once. @throws Error with one sentence for people, if it refers to a missing row */
  readonly columns: Readonly<Record<string, Column>> = {};
  /** The columns that were read. */
  readonly read: Record<string, Column> = Object.create(null);
  #unread: UnreadColumns | undefined;

  constructor(unread: UnreadColumns) {
    this.length = unread.rows;
    this.#unread = unread;
    for (const name of Object.keys(unread.columns)) {
      Object.defineProperty(this.columns, name, {
        enumerable: true,
        configurable: true,
        get: () => this.#column(name),
      });
    }
  }

  /** Read the columns that were not read yet, and release the payload. */
  readRest(): void {
    for (const name of Object.keys(this.columns)) {
      if (!this.read[name]) {
        this.#column(name);
      }
    }
    this.#unread = undefined;
  }

  #column(name: string): Column {
    const { bytes, rows, columns } = this.#unread!;
    const { stored, start, isWide, range } = columns[name]!;
    const planes = { buffer: bytes.buffer, start: bytes.byteOffset + start, rows };
    const column = readColumn(planes, stored, isWide);
    if (range) {
      checkRange(column, name, range);
    }
    this.#put(name, column);
    return column;
  }

  /** Replace the getter by a plain property, which is faster to read in loops. */
  #put(name: string, value: Column): void {
    this.read[name] = value;
    Object.defineProperty(this.columns, name, { enumerable: true, value });
  }
}

/** A large table whose columns are read when they are first asked for, or by a worker. */
import type { PackedColumn } from "../protocol.ts";
import type { Column, Table } from "./columns.ts";
import { readColumn } from "./packed_column.ts";
import { checkRange, DAMAGED, type ValueRange } from "./references.ts";

/** A column as it lies in the payload. */
export interface StoredColumn {
  readonly stored: PackedColumn;
  /** Position of its first byte among those of the table. */
  readonly start: number;
}

export interface UnreadColumn extends StoredColumn {
  readonly isWide: boolean;
  /** What its values may be, where they point at something. */
  readonly range?: ValueRange | undefined;
}

export interface UnreadColumns {
  readonly rows: number;
  /** Those of the table. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly columns: Readonly<Record<string, UnreadColumn>>;
}

export class UnreadTable implements Table {
  readonly length: number;
  /** Each is read once. @throws Error in a sentence for people, if what it points at is not there */
  readonly columns: Readonly<Record<string, Column>>;
  readonly #read: Record<string, Column> = Object.create(null);
  readonly #unread: UnreadColumns;
  #isTaken = false;

  constructor(unread: UnreadColumns) {
    this.length = unread.rows;
    this.#unread = unread;
    const columns: Record<string, Column> = {};
    for (const name of Object.keys(unread.columns)) {
      Object.defineProperty(columns, name, { enumerable: true, get: () => this.#column(name) });
    }
    this.columns = columns;
  }

  /** What there is to read, for a worker; undefined where one has read what it needs. */
  get unread(): UnreadColumns | undefined {
    return this.#isTaken ? undefined : this.#unread;
  }

  /** Those columns that somebody has asked for. */
  get read(): Readonly<Record<string, Column>> {
    return this.#read;
  }

  /** Have columns that were read elsewhere; what is none of them is read when it is asked for. */
  take(columns: Readonly<Record<string, Column>>): void {
    for (const [name, column] of Object.entries(columns)) {
      this.#read[name] ??= column;
    }
    this.#isTaken = true;
  }

  #column(name: string): Column {
    let column = this.#read[name];
    if (!column) {
      const { bytes, rows, columns } = this.#unread;
      const { stored, start, isWide, range } = columns[name]!;
      const planes = { buffer: bytes.buffer, start: bytes.byteOffset + start, rows };
      column = readColumn(planes, stored, isWide);
      if (range) {
        try {
          checkRange(column, name, range);
        } catch (error) {
          throw new Error(DAMAGED, { cause: error });
        }
      }
      this.#read[name] = column;
    }
    return column;
  }
}

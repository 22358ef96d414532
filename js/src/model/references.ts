/** Every key and string code of a payload points at something: checked once, before use. */

import type { TableName } from "../protocol.ts";
import {
  EARLIER_COLUMNS,
  ENUM_SIZES,
  KEY_COLUMNS,
  PARALLEL_TABLES,
  type Table,
  TEXT_COLUMNS,
} from "./columns.ts";

export const DAMAGED = "This trace is cut short or altered; run the cell again or load it anew.";

/** @throws RangeError if a key, an enumeration value or a string code points nowhere. */
export function checkReferences(
  tables: Readonly<Record<TableName, Table>>,
  stringCount: number,
): void {
  for (const name of Object.keys(tables) as TableName[]) {
    const table = tables[name];
    for (const column of TEXT_COLUMNS[name] ?? []) {
      checkRange(table, column, 0, stringCount);
    }
    for (const [column, size] of Object.entries(ENUM_SIZES[name] ?? {})) {
      checkRange(table, column, 0, size);
    }
    for (const [column, target] of Object.entries(KEY_COLUMNS[name] ?? {})) {
      checkRange(table, column, -1, tables[target].length);
    }
    const earlier = EARLIER_COLUMNS[name];
    if (earlier) {
      checkEarlier(table, earlier);
    }
    const parallel = PARALLEL_TABLES[name];
    if (parallel && table.length !== tables[parallel].length) {
      throw new RangeError(`${name} and ${parallel} differ in length`);
    }
  }
}

function checkRange(table: Table, columnName: string, lowest: number, end: number): void {
  const column = table.columns[columnName]!;
  for (let row = 0; row < table.length; row++) {
    const value = column[row]!;
    if (value < lowest || value >= end) {
      throw new RangeError(`${columnName} points nowhere`);
    }
  }
}

function checkEarlier(table: Table, columnName: string): void {
  const column = table.columns[columnName]!;
  for (let row = 0; row < table.length; row++) {
    if (column[row]! >= row) {
      throw new RangeError(`${columnName} points at a later row`);
    }
  }
}

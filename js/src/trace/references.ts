/** Every key and string code of a payload points at something: checked once, before use. */

import { t } from "../words/loader.ts";
import { type Column, EARLIER_COLUMNS, PARALLEL_TABLES, type Table } from "./columns.ts";
import {
  type ColumnType,
  ENUMERATIONS,
  type EnumerationName,
  TABLES,
  type TableName,
} from "./protocol.ts";

/** Of a payload that is cut short or altered. */
export function damaged(cause?: unknown): Error {
  return new Error(t("damaged"), { cause });
}

/** From `lowest` up to, and without, `end`. */
export interface ValueRange {
  readonly lowest: number;
  readonly end: number;
}

/**
 * What the columns of a table may hold, by column: those that point at something.
 *
 * @param lengthOf rows of each table
 */
export function valueRanges(
  name: TableName,
  lengthOf: (name: TableName) => number,
  stringCount: number,
): Record<string, ValueRange> {
  const ranges: Record<string, ValueRange> = {};
  for (const [column, type] of Object.entries<ColumnType>(TABLES[name])) {
    const [kind, target] = type.split(":") as [string, string];
    if (kind === "str") {
      ranges[column] = { lowest: 0, end: stringCount };
    } else if (kind === "enum") {
      ranges[column] = { lowest: 0, end: ENUMERATIONS[target as EnumerationName].length };
    } else if (kind === "key") {
      ranges[column] = { lowest: -1, end: lengthOf(target as TableName) };
    }
  }
  return ranges;
}

/**
 * @param unread tables whose columns are checked when they are read
 * @throws RangeError if a key, an enumeration value or a string code points nowhere.
 */
export function checkReferences(
  tables: Readonly<Record<TableName, Table>>,
  stringCount: number,
  unread: ReadonlySet<TableName>,
): void {
  for (const name of Object.keys(tables) as TableName[]) {
    const table = tables[name];
    const parallel = PARALLEL_TABLES[name];
    if (parallel && table.length !== tables[parallel].length) {
      throw new RangeError(`${name} and ${parallel} differ in length`);
    }
    if (unread.has(name)) {
      continue;
    }
    const ranges = valueRanges(name, (target) => tables[target].length, stringCount);
    for (const [column, range] of Object.entries(ranges)) {
      checkRange(table.columns[column]!, column, range);
    }
    const earlier = EARLIER_COLUMNS[name];
    if (earlier) {
      checkEarlier(table.columns[earlier]!, earlier);
    }
  }
}

/** @throws RangeError if a value of a column is outside of its range */
export function checkRange(column: Column, name: string, { lowest, end }: ValueRange): void {
  for (let row = 0; row < column.length; row++) {
    const value = column[row]!;
    if (value < lowest || value >= end) {
      throw new RangeError(`${name} points nowhere`);
    }
  }
}

/** @throws RangeError if a value of a column is not the number of an earlier row */
export function checkEarlier(column: Column, name: string): void {
  for (let row = 0; row < column.length; row++) {
    if (column[row]! >= row) {
      throw new RangeError(`${name} points at a later row`);
    }
  }
}

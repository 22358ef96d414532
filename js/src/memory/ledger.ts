/** All that is reckoned of a trace's allocations before they are shown: columns, so that a worker can. */

import type { Column, Table } from "../trace/columns.ts";
import { TABLES, type TableName } from "../trace/protocol.ts";
import { Trace } from "../trace/trace.ts";
import type { Origin } from "../trace/unpack.ts";
import { type UnreadColumns, UnreadTable } from "../trace/unread_table.ts";
import { type Blocks, blocksByPlace } from "./blocks/blocks.ts";
import { type OpNumbers, opNumbers } from "./grouping/by_op.ts";

export interface Ledger {
  /** That with the most memory first. */
  readonly places: readonly Blocks[];
  readonly ops: OpNumbers;
}

export function ledgerOf(trace: Trace): Ledger {
  return { places: blocksByPlace(trace), ops: opNumbers(trace) };
}

/** What a worker reckons a ledger from. */
export interface LedgerRequest {
  readonly origin: Origin;
  readonly allocations: UnreadColumns;
  /** Of each the number of rows, and the columns that are needed. */
  readonly tables: Readonly<Record<TableName, Table>>;
}

export interface LedgerAnswer {
  readonly ledger: Ledger;
  /** Those of `allocations` that were read for it. */
  readonly columns: Readonly<Record<string, Column>>;
}

const NEEDED: Partial<Record<TableName, readonly string[]>> = {
  ops: ["start_ns", "duration_ns"],
  scopes: ["kind"],
  tensors: ["path"],
  memory_totals: Object.keys(TABLES.memory_totals),
};

/**
 * The bytes in it are the page's own.
 *
 * @returns undefined where the allocations are read, or so few that they soon are
 */
export function ledgerRequest(trace: Trace): LedgerRequest | undefined {
  const allocations = trace.unreadAllocations?.unread;
  if (!allocations) {
    return undefined;
  }
  const tables = (Object.keys(TABLES) as TableName[]).map((name) => {
    const { length, column } = trace.table(name) as { length: number; column(of: string): Column };
    return [name, { length, columns: fromNames(NEEDED[name] ?? [], column) }];
  });
  return {
    origin: trace.origin,
    allocations,
    tables: Object.fromEntries(tables),
  };
}

/**
 * Done in a worker.
 *
 * @throws Error in a sentence for people, if a column holds what it cannot
 */
export function answerLedger({ origin, allocations, tables }: LedgerRequest): LedgerAnswer {
  const table = new UnreadTable(allocations);
  const trace = new Trace({ strings: [], origin, tables: { ...tables, allocations: table } });
  // Others, such as addresses, are read when the page asks for them: half of all the bytes.
  return { ledger: ledgerOf(trace), columns: table.read };
}

/** Have what a worker answered. */
export function takeLedger(trace: Trace, { ledger, columns }: LedgerAnswer): Ledger {
  trace.unreadAllocations?.take(columns);
  const places = ledger.places.map((blocks) => ({
    ...blocks,
    // Texts stayed here. At least the last block has a row.
    place: trace.textAt("allocations", "place", blocks.rows.at(-1)!),
  }));
  return { ...ledger, places };
}

const ahead = new WeakMap<Trace, Promise<Ledger | undefined>>();

/**
 * Say that a ledger is reckoned before anybody asks for it.
 *
 * @param ledger resolves to undefined where it failed: then it is reckoned when it is asked for
 */
export function expectLedger(trace: Trace, ledger: Promise<Ledger | undefined>): void {
  ahead.set(trace, ledger);
}

/** @returns undefined where none is on its way */
export function expectedLedger(trace: Trace): Promise<Ledger | undefined> | undefined {
  return ahead.get(trace);
}

function fromNames(names: readonly string[], of: (name: string) => Column): Record<string, Column> {
  return Object.fromEntries(names.map((name) => [name, of(name)]));
}

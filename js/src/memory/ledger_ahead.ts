/** Ledgers that are reckoned before anybody asks for them. */
import type { Trace } from "../trace/trace.ts";
import type { Ledger } from "./ledger.ts";

const ahead = new WeakMap<Trace, Promise<Ledger | undefined>>();

/** @param ledger resolves to undefined where it failed: then it is reckoned when it is asked for */
export function expectLedger(trace: Trace, ledger: Promise<Ledger | undefined>): void {
  ahead.set(trace, ledger);
}

/** @returns undefined where none is on its way */
export function expectedLedger(trace: Trace): Promise<Ledger | undefined> | undefined {
  return ahead.get(trace);
}

/** Ledgers that are reckoned before anybody asks for them. */
import type { Trace } from "../model/trace.ts";
import type { Ledger } from "./ledger.ts";

const ahead = new WeakMap<Trace, Promise<Ledger | undefined> | Ledger>();

/** @param ledger resolves to undefined where it failed: then it is reckoned when it is asked for */
export function expectLedger(trace: Trace, ledger: Promise<Ledger | undefined>): void {
  ahead.set(trace, ledger);
  void ledger.then((found) => found && ahead.set(trace, found));
}

/** @returns a promise as long as it is on its way; undefined where none is, or it failed */
export function expectedLedger(trace: Trace): Promise<Ledger | undefined> | Ledger | undefined {
  return ahead.get(trace);
}

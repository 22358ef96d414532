/** Has a worker read a large trace's allocations, while the page draws its graph. */
import { expectLedger, ledgerRequest, takeLedger } from "../memory/ledger.ts";
import type { Trace } from "../trace/trace.ts";
import { Reader } from "./reader.ts";

/**
 * Does nothing for a small trace; where workers are not allowed, the page reads when it has to.
 *
 * @param inflater the worker that inflated the trace, if one did: it reckons the ledger unasked
 */
export function readMemoryAhead(trace: Trace, inflater?: Reader): void {
  const isMany = trace.unreadAllocations !== undefined;
  if (!isMany || typeof Worker === "undefined") {
    inflater?.dispose();
    return;
  }
  const reader = inflater ?? new Reader();
  const answer = inflater ? inflater.ledger() : reader.reckon(ledgerRequest(trace)!);
  expectLedger(
    trace,
    answer
      .then((found) => takeLedger(trace, found))
      .catch(() => undefined)
      .finally(() => reader.dispose()),
  );
}

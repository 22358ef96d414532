/** Inflates a payload that arrives in parts, and reckons a ledger; bundled on its own for a worker. */

import {
  answerLedger,
  type LedgerAnswer,
  type LedgerRequest,
  ledgerRequest,
} from "../memory/ledger.ts";
import { decodeBase64 } from "../trace/base64.ts";
import { Inflating } from "../trace/inflate.ts";
import { Trace } from "../trace/trace.ts";
import { readInflated } from "../trace/unpack.ts";

export type ReaderOrder =
  /** Parts of a zlib stream: bytes, or base64 of them. */
  | { kind: "add"; parts: readonly (Uint8Array<ArrayBuffer> | string)[] }
  /** There are no more parts. Of many allocations a ledger follows what was inflated. */
  | { kind: "end" }
  | { kind: "reckon"; request: LedgerRequest };

export type ReaderReply =
  | { kind: "inflated"; bytes: Uint8Array<ArrayBuffer> }
  | { kind: "done"; answer: LedgerAnswer }
  | { kind: "failed" };

interface WorkerScope {
  onmessage: ((event: MessageEvent<ReaderOrder>) => void) | null;
  postMessage(message: ReaderReply, transfer?: Transferable[]): void;
}

/** Do as the page orders; to be called in a worker. */
export function serve(): void {
  const scope = globalThis as unknown as WorkerScope;
  let inflating: Inflating | undefined;
  scope.onmessage = ({ data }) => {
    obey(data).catch(() => scope.postMessage({ kind: "failed" }));
  };

  async function obey(order: ReaderOrder): Promise<void> {
    if (order.kind === "add") {
      inflating ??= new Inflating();
      for (const part of order.parts) {
        inflating.add(typeof part === "string" ? decodeBase64(part) : part);
      }
    } else if (order.kind === "end") {
      const inflated = await inflating!.end();
      // The page has a copy: each of the two reads what it needs.
      const bytes = inflated.slice();
      scope.postMessage({ kind: "inflated", bytes }, [bytes.buffer]);
      // The page would ask for it, once it has read the rest.
      reckon(ledgerRequest(new Trace(readInflated(inflated))));
    } else {
      reckon(order.request);
    }
  }

  function reckon(request: LedgerRequest | undefined): void {
    if (request) {
      const answer = answerLedger(request);
      scope.postMessage({ kind: "done", answer }, [...buffersIn(answer)]);
    }
  }
}

/** Those of all arrays in an answer, however deep. */
function buffersIn(answer: object, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  for (const value of Object.values(answer)) {
    if (ArrayBuffer.isView(value)) {
      found.add(value.buffer as ArrayBuffer);
    } else if (typeof value === "object" && value !== null) {
      buffersIn(value, found);
    }
  }
  return found;
}

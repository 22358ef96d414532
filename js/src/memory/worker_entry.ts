/** Inflates a payload that arrives in parts, and reckons a ledger; bundled on its own for a worker. */
import { decodeBase64 } from "../base64.ts";
import { Inflating } from "../model/inflating.ts";
import { answerLedger, type LedgerAnswer, type LedgerRequest } from "./ledger.ts";

export type ReaderOrder =
  /** Parts of a zlib stream: bytes, or base64 of them. */
  | { kind: "add"; parts: readonly (Uint8Array<ArrayBuffer> | string)[] }
  | { kind: "end" }
  | { kind: "reckon"; request: LedgerRequest }
  /** The allocations lie so far into what was inflated. */
  | { kind: "reckon inflated"; request: LedgerRequest; start: number; length: number };

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
  let inflated: Uint8Array<ArrayBuffer> | undefined;
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
      inflated = await inflating!.end();
      // The page has a copy: each of the two reads what it needs.
      const bytes = inflated.slice();
      scope.postMessage({ kind: "inflated", bytes }, [bytes.buffer]);
    } else {
      const answer = answerLedger(requestOf(order));
      scope.postMessage({ kind: "done", answer }, [...buffersIn(answer)]);
    }
  }

  function requestOf(order: Extract<ReaderOrder, { request: LedgerRequest }>): LedgerRequest {
    if (order.kind === "reckon") {
      return order.request;
    }
    const { request, start, length } = order;
    const bytes = inflated!.subarray(start, start + length);
    return { ...request, allocations: { ...request.allocations, bytes } };
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

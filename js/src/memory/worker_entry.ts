/** The reckoning of a ledger, bundled on its own for a worker. */
import { answerLedger, type LedgerAnswer, type LedgerRequest } from "./ledger.ts";

export type LedgerReply = { kind: "done"; answer: LedgerAnswer } | { kind: "failed" };

interface WorkerScope {
  onmessage: ((event: MessageEvent<LedgerRequest>) => void) | null;
  postMessage(message: LedgerReply, transfer?: Transferable[]): void;
}

/** Answer the page's request; to be called in a worker. */
export function serve(): void {
  const scope = globalThis as unknown as WorkerScope;
  scope.onmessage = ({ data }) => {
    try {
      const answer = answerLedger(data);
      scope.postMessage({ kind: "done", answer }, [...buffersIn(answer)]);
    } catch {
      scope.postMessage({ kind: "failed" });
    }
  };
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

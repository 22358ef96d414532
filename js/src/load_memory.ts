/** Has a worker read a large trace's allocations, while the page draws its graph. */
import packedMemory from "packed-script:./memory/worker_entry.ts";
import { type LedgerRequest, ledgerRequest, takeLedger } from "./memory/ledger.ts";
import { expectLedger } from "./memory/ledger_ahead.ts";
import type { LedgerReply } from "./memory/worker_entry.ts";
import type { Trace } from "./model/trace.ts";
import { unpackScript } from "./packed_script.ts";

/** Does nothing for a small trace; where workers are not allowed, the page reads when it has to. */
export function readMemoryAhead(trace: Trace): void {
  const request = typeof Worker === "undefined" ? undefined : ledgerRequest(trace);
  if (request) {
    const reply = ask(request).catch((): LedgerReply => ({ kind: "failed" }));
    expectLedger(
      trace,
      reply.then((said) => (said.kind === "done" ? takeLedger(trace, said.answer) : undefined)),
    );
  }
}

async function ask(request: LedgerRequest): Promise<LedgerReply> {
  const script = `${await unpackScript(packedMemory)}\n;bundled.serve()`;
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(address);
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<LedgerReply>) => resolve(data);
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error("the page's policy forbids workers, or this one broke"));
      };
      worker.postMessage(request, [request.allocations.bytes.buffer]);
    });
  } finally {
    worker.terminate();
    URL.revokeObjectURL(address);
  }
}

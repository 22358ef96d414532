/** A worker that reads what is large: it inflates a payload that still arrives, and reckons a ledger. */
import packedReader from "packed-script:./memory/worker_entry.ts";
import type { LedgerAnswer, LedgerRequest } from "./memory/ledger.ts";
import type { ReaderOrder, ReaderReply } from "./memory/worker_entry.ts";
import { unpackScript } from "./packed_script.ts";

const BROKEN = "the page's policy forbids workers, or this one broke";

/** What a payload's zlib stream holds, and the worker that has it too. */
export interface Inflated {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly reader: Reader;
}

/** Each of its questions rejects where workers are not allowed, or what was given is damaged. */
export class Reader {
  readonly #worker = this.#start();
  #address = "";
  #isBroken = false;
  #answer: (reply: ReaderReply) => void = () => {};

  /** Take further parts of a zlib stream: bytes, or base64 of them. */
  add(parts: readonly (Uint8Array<ArrayBuffer> | string)[]): void {
    void this.#post({ kind: "add", parts }).catch(() => {});
  }

  /** What the parts hold, once no more are added. */
  async inflated(): Promise<Uint8Array<ArrayBuffer>> {
    const reply = await this.#ask({ kind: "end" });
    if (reply.kind !== "inflated") {
      throw new Error(BROKEN);
    }
    return reply.bytes;
  }

  /** @param isInflated whether the request is of what was inflated here */
  async reckon(request: LedgerRequest, isInflated: boolean): Promise<LedgerAnswer> {
    const { bytes } = request.allocations;
    // The page keeps its own: who cannot wait for the worker reads them there.
    const own = isInflated ? new Uint8Array(0) : bytes.slice();
    const sent = { ...request, allocations: { ...request.allocations, bytes: own } };
    const { byteOffset: start, byteLength: length } = bytes;
    const reply = await this.#ask(
      isInflated
        ? { kind: "reckon inflated", request: sent, start, length }
        : { kind: "reckon", request: sent },
      [own.buffer],
    );
    if (reply.kind !== "done") {
      throw new Error(BROKEN);
    }
    return reply.answer;
  }

  dispose(): void {
    this.#isBroken = true;
    void this.#worker.then((worker) => worker.terminate()).catch(() => {});
    URL.revokeObjectURL(this.#address);
  }

  async #start(): Promise<Worker> {
    const script = `${await unpackScript(packedReader)}\n;bundled.serve()`;
    this.#address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const worker = new Worker(this.#address);
    worker.onmessage = ({ data }: MessageEvent<ReaderReply>) => this.#take(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#take({ kind: "failed" });
    };
    return worker;
  }

  #take(reply: ReaderReply): void {
    this.#isBroken ||= reply.kind === "failed";
    this.#answer(reply);
  }

  async #post(order: ReaderOrder, transfer: Transferable[] = []): Promise<void> {
    (await this.#worker).postMessage(order, transfer);
  }

  async #ask(order: ReaderOrder, transfer?: Transferable[]): Promise<ReaderReply> {
    await this.#worker;
    const reply = new Promise<ReaderReply>((resolve) => {
      this.#answer = resolve;
    });
    if (this.#isBroken) {
      return { kind: "failed" };
    }
    await this.#post(order, transfer);
    return reply;
  }
}

/** A worker that reads what is large: it inflates a payload that still arrives, and reckons a ledger. */
import packedReader from "packed-script:./reader_entry.ts";
import type { LedgerAnswer, LedgerRequest } from "../memory/ledger.ts";
import { unpackScript } from "./packed_script.ts";
import type { ReaderOrder, ReaderReply } from "./reader_entry.ts";

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
  /** What came before it was asked for. */
  readonly #replies: ReaderReply[] = [];
  #arrived: () => void = () => {};

  /** Take further parts of a zlib stream: bytes, or base64 of them. */
  add(parts: readonly (Uint8Array<ArrayBuffer> | string)[]): void {
    void this.#post({ kind: "add", parts }).catch(() => {});
  }

  /** What the parts hold, once no more are added. */
  async inflated(): Promise<Uint8Array<ArrayBuffer>> {
    await this.#post({ kind: "end" });
    const reply = await this.#reply();
    if (reply.kind !== "inflated") {
      throw new Error(BROKEN);
    }
    return reply.bytes;
  }

  /** The ledger of what was inflated, if there are many allocations in it. */
  async ledger(): Promise<LedgerAnswer> {
    const reply = await this.#reply();
    if (reply.kind !== "done") {
      throw new Error(BROKEN);
    }
    return reply.answer;
  }

  /** The ledger of a trace that the page has. */
  async reckon(request: LedgerRequest): Promise<LedgerAnswer> {
    // The page keeps its own: who cannot wait for the worker reads them there.
    const bytes = request.allocations.bytes.slice();
    const sent = { ...request, allocations: { ...request.allocations, bytes } };
    await this.#post({ kind: "reckon", request: sent }, [bytes.buffer]);
    return this.ledger();
  }

  dispose(): void {
    this.#isBroken = true;
    this.#arrived();
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
    this.#replies.push(reply);
    this.#arrived();
  }

  async #post(order: ReaderOrder, transfer: Transferable[] = []): Promise<void> {
    (await this.#worker).postMessage(order, transfer);
  }

  /** The next one: the worker answers in the order in which it is asked. */
  async #reply(): Promise<ReaderReply> {
    await this.#worker;
    while (!(this.#replies.length || this.#isBroken)) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
    return this.#replies.shift() ?? { kind: "failed" };
  }
}

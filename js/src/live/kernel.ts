/** The connection of the chart to its kernel. It sends messages, and detects a silent kernel. */
import type { AnyModel } from "@anywidget/types";
import type { MessageFromKernel, MessageToKernel } from "./counters/messages.ts";

const SILENT_MS = 1500;
/**
 * How long to wait for the history before the next request. A busy kernel queues requests, so this
 * doubles each time.
 */
const FIRST_ANSWER_MS = 2000;

export class Kernel {
  readonly #model: AnyModel;
  readonly #onMessage: (message: MessageFromKernel, buffers: DataView[]) => void;
  #heard_at = performance.now();
  #ask_again_at = Number.POSITIVE_INFINITY;
  #patience_ms = FIRST_ANSWER_MS;

  constructor(model: AnyModel, take: (message: MessageFromKernel, buffers: DataView[]) => void) {
    this.#model = model;
    this.#onMessage = (message, buffers) => {
      if (message.kind === "batch" || message.kind === "history")
        this.#heard_at = performance.now();
      if (message.kind === "history") this.#ask_again_at = Number.POSITIVE_INFINITY;
      take(message, buffers);
    };
    model.on("msg:custom", this.#onMessage);
  }

  send(kind: MessageToKernel["kind"]): void {
    try {
      this.#model.send({ kind });
    } catch {
      // The kernel has ended, so the message is not needed.
    }
  }

  /** Request all rows. A busy kernel answers after its cell. Meanwhile new rows arrive. */
  askForHistory(): void {
    this.#ask_again_at = performance.now() + this.#patience_ms;
    this.#patience_ms *= 2;
    this.send("opened");
  }

  /** Request the history again if it has not arrived in time. */
  askAgain(): void {
    if (performance.now() > this.#ask_again_at) this.askForHistory();
  }

  /** The time since the last message in ms, or 0 if it is too short to be silence. */
  get silent_ms(): number {
    const silent_ms = performance.now() - this.#heard_at;
    return silent_ms > SILENT_MS ? silent_ms : 0;
  }

  /** Report that this view was removed. The kernel stops sampling if no other view answers. */
  leave(): void {
    this.#model.off("msg:custom", this.#onMessage);
    this.send("closed");
  }
}

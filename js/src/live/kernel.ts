/** The chart's connection to its kernel: sends messages, and notices when the kernel is silent. */
import type { AnyModel } from "@anywidget/types";
import type { MessageFromKernel, MessageToKernel } from "./counters/messages.ts";

const SILENT_MS = 1500;
/** How long to wait for the history before asking again. Doubled each time: a busy kernel queues requests. */
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
      // The kernel is gone; nothing else needs the message.
    }
  }

  /** Ask for all rows so far. A busy kernel answers after its cell; new rows arrive meanwhile. */
  askForHistory(): void {
    this.#ask_again_at = performance.now() + this.#patience_ms;
    this.#patience_ms *= 2;
    this.send("opened");
  }

  /** Ask again if the history has not arrived in time. */
  askAgain(): void {
    if (performance.now() > this.#ask_again_at) this.askForHistory();
  }

  /** The time since the last message, in ms; 0 if this is too short to count as silence. */
  get silent_ms(): number {
    const silent_ms = performance.now() - this.#heard_at;
    return silent_ms > SILENT_MS ? silent_ms : 0;
  }

  /** Say that this view is gone; the kernel stops sampling if no other view answers. */
  leave(): void {
    this.#model.off("msg:custom", this.#onMessage);
    this.send("closed");
  }
}

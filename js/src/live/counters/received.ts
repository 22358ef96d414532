/** All that the kernel has sent: counters, samples, and which code ran when. */

import { type BatchMessage, type Counter, readRows, type Span } from "./messages.ts";
import { Samples } from "./samples.ts";

/** The values at a moment: that under the pointer, or the newest one. */
export interface Moment {
  readonly values: readonly number[];
  readonly cell: string;
  readonly layer: string;
}

export class Received {
  readonly samples = new Samples();
  readonly cells = new Spans();
  readonly layers = new Spans();
  counters: readonly Counter[] = [];

  /** @returns whether the counters have changed */
  take(message: BatchMessage, buffers: DataView[]): boolean {
    const tiers = message.rows.map((rows, tier) => readRows(buffers[tier], rows));
    if (message.kind === "history") {
      this.samples.replace(tiers);
    } else {
      this.samples.append(tiers);
    }
    this.cells.append(message.cells);
    this.layers.append(message.layers);
    this.counters = message.counters ?? this.counters;
    return message.counters !== undefined;
  }

  /** @param at_ms the time; undefined for the newest values */
  moment(at_ms: number | undefined): Moment {
    const count = this.counters.length;
    return at_ms === undefined
      ? {
          values: this.samples.latest(count),
          cell: this.cells.running,
          layer: this.layers.running,
        }
      : {
          values: this.samples.at(at_ms, count),
          cell: this.cells.at(at_ms),
          layer: this.layers.at(at_ms),
        };
  }
}

/** As many as samples, because each sample may be in a different layer. */
const CAPACITY = 6000;

export class Spans {
  #spans: Span[] = [];

  /** Add spans, sorted by start. A running span is sent again when it ends. */
  append(spans: readonly Span[]): void {
    for (const span of spans) {
      while (this.#spans.length > 0 && this.#spans.at(-1)![0] >= span[0]) this.#spans.pop();
      this.#spans.push(span);
    }
    if (this.#spans.length > CAPACITY) this.#spans.splice(0, this.#spans.length - CAPACITY);
  }

  /** The label of the running span, "" if there is none. */
  get running(): string {
    const last = this.#spans.at(-1);
    return last !== undefined && last[1] === null ? last[2] : "";
  }

  at(time_ms: number): string {
    const found = this.#spans.findLast(([start_ms]) => start_ms <= time_ms);
    return found !== undefined && (found[1] ?? Number.POSITIVE_INFINITY) > time_ms ? found[2] : "";
  }

  between(start_ms: number, end_ms: number): Span[] {
    return this.#spans.filter(
      ([start, end]) => start < end_ms && (end ?? Number.POSITIVE_INFINITY) > start_ms,
    );
  }
}

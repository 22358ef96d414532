/** All that the kernel has sent: counters, samples, and which code ran when. */
import { type BatchMessage, type Counter, readRows } from "./messages.ts";
import { Samples } from "./samples.ts";
import { Spans } from "./spans.ts";

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

/** What the kernel has sent: the counters, their samples, and what ran when. */
import { type BatchMessage, type Counter, readRows, type Span } from "./messages.ts";
import { Samples, type Series } from "./samples.ts";
import { Spans } from "./spans.ts";

/** What one moment says, or the newest sample where the pointer is nowhere. */
export interface Moment {
  readonly values: readonly number[];
  readonly cell: string;
  readonly layer: string;
}

export class Received {
  readonly #samples = new Samples();
  readonly #cells = new Spans();
  readonly #layers = new Spans();
  #counters: readonly Counter[] = [];

  /** @returns whether the counters are others than before */
  take(message: BatchMessage, buffers: DataView[]): boolean {
    const tiers = message.rows.map((rows, tier) => readRows(buffers[tier], rows));
    if (message.kind === "history") {
      this.#samples.replace(tiers);
    } else {
      this.#samples.append(tiers);
    }
    this.#cells.append(message.cells);
    this.#layers.append(message.layers);
    if (!message.counters) return false;
    this.#counters = message.counters;
    return true;
  }

  get counters(): readonly Counter[] {
    return this.#counters;
  }

  get first_ms(): number | undefined {
    return this.#samples.first_ms;
  }

  get last_ms(): number | undefined {
    return this.#samples.last_ms;
  }

  series(start_ms: number, end_ms: number): Series {
    return this.#samples.series(start_ms, end_ms, this.#counters.length);
  }

  /** The cells and the layers that ran between two moments; what runs still has no end. */
  ran(start_ms: number, end_ms: number): { cells: Span[]; layers: Span[] } {
    return {
      cells: this.#cells.between(start_ms, end_ms),
      layers: this.#layers.between(start_ms, end_ms),
    };
  }

  /** @param at_ms a moment, or undefined for now */
  moment(at_ms: number | undefined): Moment {
    const count = this.#counters.length;
    if (at_ms === undefined) {
      const [cell, layer] = [this.#cells.running, this.#layers.running];
      return { values: this.#samples.latest(count), cell, layer };
    }
    const [cell, layer] = [this.#cells.at(at_ms), this.#layers.at(at_ms)];
    return { values: this.#samples.at(at_ms, count), cell, layer };
  }
}

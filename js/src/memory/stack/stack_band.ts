/** The band stands for blocks that are not drawn one by one. */
import { MEMORY_KINDS } from "../blocks/kinds.ts";

export interface BandSteps {
  /** The band as steps: from each time on, the height in bytes at which the band begins. */
  readonly band_ns: Float64Array;
  readonly band_bottom_bytes: Float64Array;
  /** The bytes of the band by position in MEMORY_KINDS, stacked in that order. */
  readonly band_bytes: readonly Float64Array[];
}

/** The band on top of the drawn blocks. Bytes of kinds are by position in MEMORY_KINDS. */
export class Band {
  readonly #ns: number[] = [];
  readonly #bottom_bytes: number[] = [];
  readonly #bytes = MEMORY_KINDS.map((): number[] => []);
  /** The highest moment of the current column. */
  readonly #highest_bytes = new Float64Array(MEMORY_KINDS.length);
  #highestTop_bytes = 0;
  #highestBottom_bytes = 0;

  noteHighest(bottom_bytes: number, bytes: Float64Array): void {
    this.#highestTop_bytes = bottom_bytes + sum(bytes);
    this.#highestBottom_bytes = bottom_bytes;
    this.#highest_bytes.set(bytes);
  }

  /** Draw a column as high as its highest moment, so that no peak is lost. */
  endColumn(from_ns: number, to_ns: number, bottom_bytes: number, bytes: Float64Array): void {
    if (this.#highestTop_bytes > bottom_bytes + sum(bytes)) {
      this.step(from_ns, this.#highestBottom_bytes, this.#highest_bytes);
      this.step(to_ns, bottom_bytes, bytes);
    } else {
      this.step(from_ns, bottom_bytes, bytes);
    }
  }

  step(time_ns: number, bottom_bytes: number, bytes: Float64Array): void {
    this.#ns.push(time_ns);
    this.#bottom_bytes.push(bottom_bytes);
    for (let kind = 0; kind < bytes.length; kind++) {
      this.#bytes[kind]!.push(bytes[kind]!);
    }
  }

  steps(): BandSteps {
    return {
      band_ns: Float64Array.from(this.#ns),
      band_bottom_bytes: Float64Array.from(this.#bottom_bytes),
      band_bytes: this.#bytes.map((bytes) => Float64Array.from(bytes)),
    };
  }
}

function sum(bytes: Float64Array): number {
  let total_bytes = 0;
  for (const size_bytes of bytes) {
    total_bytes += size_bytes;
  }
  return total_bytes;
}

/** What the user has chosen in the memory view. The store has what all views share. */
import type { Trace } from "../trace/trace.ts";
import { type Blocks, blocksByPlace } from "./blocks/blocks.ts";
import { type Moment, momentOf } from "./blocks/moment.ts";
import { type Grouping, groupAllocations } from "./grouping/grouping.ts";
import type { Groups } from "./grouping/groups.ts";

export interface MemoryChoice {
  /** The position of the device in `places`. */
  readonly place: number;
  /** The chosen span; if both are equal, a single moment. */
  readonly from_ns: number;
  readonly to_ns: number;
  readonly grouping: Grouping;
  /** Highlighted kind, as a position in MEMORY_KINDS; -1 for none. */
  readonly kind: number;
}

export class MemoryState {
  #choice: MemoryChoice;
  readonly #listeners = new Set<(choice: MemoryChoice, previous: MemoryChoice) => void>();
  readonly #groups = new Map<Grouping, Groups>();
  #moment: Moment | undefined;

  /** The blocks of each device. The device with the most memory comes first. */
  readonly places: readonly Blocks[];

  constructor(readonly trace: Trace) {
    this.places = blocksByPlace(trace);
    const { peak_ns } = this.places[0]!.events;
    this.#choice = { place: 0, from_ns: peak_ns, to_ns: peak_ns, grouping: "op", kind: -1 };
  }

  get choice(): MemoryChoice {
    return this.#choice;
  }

  get blocks(): Blocks {
    return this.places[this.#choice.place]!;
  }

  /** The blocks that are alive in the selected time. All parts of the view share this result. */
  get moment(): Moment {
    this.#moment ??= momentOf(this.blocks, this.#choice.from_ns, this.#choice.to_ns);
    return this.#moment;
  }

  /** The groups of a grouping, computed on first use. */
  groups(grouping: Grouping): Groups {
    let groups = this.#groups.get(grouping);
    if (!groups) {
      groups = groupAllocations(this.trace, grouping);
      this.#groups.set(grouping, groups);
    }
    return groups;
  }

  update(change: Partial<MemoryChoice>): void {
    const previous = this.#choice;
    this.#choice = { ...previous, ...change };
    if ("place" in change || "from_ns" in change || "to_ns" in change) {
      this.#moment = undefined;
    }
    for (const listener of this.#listeners) {
      listener(this.#choice, previous);
    }
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: (choice: MemoryChoice, previous: MemoryChoice) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

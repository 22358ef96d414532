/** What the view of time shows: the nesting of boxes, the thread, and the box that fills the view. */
import type { Trace } from "../../trace/trace.ts";
import type { Store } from "../state/store.ts";
import { type GrownTree, growKernels, growTree } from "./grow_tree.ts";
import { nameOfPart, type Part } from "./icicle.ts";
import { type Nesting, type Places, placesOf } from "./places.ts";
import { CELL_THREAD } from "./spans.ts";

export const MEASURES = ["host", "kernels"] as const;
/** Which time is shown: of ops on the host, or of kernels. */
export type Measure = (typeof MEASURES)[number];

export interface TimeChoice {
  readonly measure: Measure;
  readonly nesting: Nesting;
  readonly thread: number;
  /** The parts from the root to the part that fills the view. */
  readonly trail: readonly Part[];
  /** The part that the keys move. */
  readonly cursor: Part;
}

const ROOT: Part = { box: 0 };

export class TimeState {
  #choice: TimeChoice;
  #grown: GrownTree | undefined;
  readonly #listeners = new Set<(choice: TimeChoice, previous: TimeChoice) => void>();

  constructor(readonly store: Store) {
    const kinds = store.trace.table("groups").length;
    const hasLayers =
      kinds > 0 &&
      store.trace
        .table("scopes")
        .column("layer")
        .some((layer) => layer >= 0);
    const nesting = hasLayers ? "layer" : "stack";
    this.#choice = {
      measure: "host",
      nesting,
      thread: CELL_THREAD,
      trail: [ROOT],
      cursor: ROOT,
    };
  }

  get trace(): Trace {
    return this.store.trace;
  }

  get choice(): TimeChoice {
    return this.#choice;
  }

  get places(): Places {
    return placesOf(this.trace, this.store.hierarchy, this.#choice.nesting);
  }

  get grown(): GrownTree {
    const { measure, thread } = this.#choice;
    this.#grown ??=
      measure === "kernels"
        ? growKernels(this.trace, this.places)
        : growTree(this.trace, this.places, thread);
    return this.#grown;
  }

  /** The part that fills the view. */
  get part(): Part {
    return this.#choice.trail.at(-1)!;
  }

  subscribe(listener: (choice: TimeChoice, previous: TimeChoice) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Nest the boxes again, and show the root. */
  regrow(change: Partial<Pick<TimeChoice, "measure" | "nesting" | "thread">>): void {
    this.#grown = undefined;
    this.#become({ ...change, trail: [ROOT], cursor: ROOT });
  }

  move(cursor: Part): void {
    this.#become({ cursor });
  }

  /** Let a part fill the view. The part must be inside the current part. */
  zoom(part: Part): void {
    const { trail } = this.#choice;
    if (nameOfPart(part) === nameOfPart(this.part)) return;
    const path = this.grown.tree.path(part.box).map((box): Part => ({ box }));
    if (part.only) path.push(part);
    // A part that consists of several boxes stays on the trail.
    const known = new Set(trail.map(({ box }) => box));
    const inner = path.filter(({ box, only }) => only || !known.has(box));
    this.#become({ trail: [...trail, ...inner], cursor: part });
  }

  /** Let a part on the trail fill the view; `false` if there is no such part. */
  zoomOut(at: number): boolean {
    const { trail } = this.#choice;
    if (at < 0) return false;
    this.#become({ trail: trail.slice(0, at + 1), cursor: trail[at]! });
    return true;
  }

  #become(change: Partial<TimeChoice>): void {
    const previous = this.#choice;
    this.#choice = { ...previous, ...change };
    for (const listener of [...this.#listeners]) listener(this.#choice, previous);
  }
}

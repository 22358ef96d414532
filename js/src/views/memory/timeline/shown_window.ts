/** The times and bytes on the screen, and how the user moves and zooms them. */
import { baseBytes, reservedSteps } from "../../../memory/blocks/marks.ts";
import type { MemoryState } from "../../../memory/memory_state.ts";
import { windowAround } from "../../../memory/stack/locate.ts";
import type { Selection } from "../../../model/state/view_state.ts";
import type { Shown } from "../figure/frame.ts";

const LEAST_SPAN_NS = 20;
const HEADROOM = 1.08;
/** How much of the memory below the view's base is visible, as a share of the rest. */
const BASE_SHARE = 0.15;

/** Places are fractions of the frame, from its upper left. */
export class ShownWindow {
  #shown: Shown;

  constructor(
    readonly memory: MemoryState,
    readonly changed: () => void,
  ) {
    this.#shown = this.#whole();
  }

  get shown(): Shown {
    return this.#shown;
  }

  /** The bytes at the top of the view without zoom. */
  get whole_bytes(): number {
    const { blocks, trace } = this.memory;
    const base_bytes = baseBytes(blocks);
    const peak_bytes = Math.max(1, blocks.events.peak_bytes - base_bytes);
    const most_bytes = Math.max(0, ...reservedSteps(trace, blocks.place).reserved_bytes);
    const reserved_bytes = most_bytes - base_bytes;
    // If the pool is much larger than the peak, show only the peak. Blocks would look flat in a
    // view of the whole pool.
    const isShown = reserved_bytes <= 1.5 * peak_bytes;
    const own_bytes = isShown ? Math.max(reserved_bytes, peak_bytes) : peak_bytes;
    return base_bytes + HEADROOM * own_bytes;
  }

  /** The bytes at the bottom of the view without zoom. */
  get floor_bytes(): number {
    const base_bytes = baseBytes(this.memory.blocks);
    return base_bytes && base_bytes - BASE_SHARE * (this.whole_bytes - base_bytes);
  }

  timeAt(x: number): number {
    const { from_ns, to_ns } = this.#shown;
    return from_ns + x * (to_ns - from_ns);
  }

  /** Show the whole run. */
  fit(): void {
    this.#shown = this.#whole();
    this.changed();
  }

  /** Zoom by `factor` around a place; in the height too if `isBoth`. */
  zoom(x: number, y: number, factor: number, isBoth: boolean): void {
    const { from_ns, to_ns, from_bytes, to_bytes } = this.#shown;
    if (isBoth) {
      const height_bytes = Math.min(this.whole_bytes, (to_bytes - from_bytes) / factor);
      const at_bytes = to_bytes - y * (to_bytes - from_bytes);
      this.#lift(at_bytes - (1 - y) * height_bytes, height_bytes);
    }
    const span_ns = Math.max(LEAST_SPAN_NS, (to_ns - from_ns) / factor);
    const start_ns = from_ns + x * (to_ns - from_ns - span_ns);
    this.goTo(start_ns, start_ns + span_ns);
  }

  /** Move by a fraction of the frame. */
  pan(dx: number, dy: number): void {
    const { from_ns, to_ns, from_bytes, to_bytes } = this.#shown;
    const by_ns = dx * (to_ns - from_ns);
    const height_bytes = to_bytes - from_bytes;
    if (dy) {
      this.#lift(from_bytes + dy * height_bytes, height_bytes);
    }
    this.goTo(from_ns - by_ns, to_ns - by_ns);
  }

  /** Show a span of time within the run and, if it is given, a span of bytes. */
  goTo(from_ns: number, to_ns: number, bytes?: { from_bytes: number; to_bytes: number }): void {
    const { first_ns, last_ns } = this.memory.blocks;
    const span_ns = Math.min(Math.max(LEAST_SPAN_NS, to_ns - from_ns), last_ns - first_ns);
    const start_ns = Math.max(first_ns, Math.min(last_ns - span_ns, from_ns));
    this.#shown = { ...this.#shown, ...bytes, from_ns: start_ns, to_ns: start_ns + span_ns };
    this.changed();
  }

  /**
   * Move the moment, or with `isSpan` the end of the span; the window follows.
   *
   * @param by fraction of the shown time
   */
  step(by: number, isSpan: boolean): void {
    const { from_ns: start, to_ns: end } = this.#shown;
    const { first_ns, last_ns } = this.memory.blocks;
    const { from_ns, to_ns } = this.memory.choice;
    const wanted_ns = (isSpan || by > 0 ? to_ns : from_ns) + by * (end - start);
    const next_ns = Math.max(first_ns, Math.min(last_ns, wanted_ns));
    this.memory.update({ from_ns: isSpan ? Math.min(from_ns, next_ns) : next_ns, to_ns: next_ns });
    if (next_ns < start) {
      this.pan((start - next_ns) / (end - start) + 0.1, 0);
    } else if (next_ns > end) {
      this.pan(-((next_ns - end) / (end - start) + 0.1), 0);
    }
  }

  /** Choose a moment and show it. */
  jump(to: "first" | "last" | "peak"): void {
    const { first_ns, last_ns, events } = this.memory.blocks;
    const time_ns = { first: first_ns, last: last_ns, peak: events.peak_ns }[to];
    this.memory.update({ from_ns: time_ns, to_ns: time_ns });
    const { from_ns: start, to_ns: end } = this.#shown;
    if (time_ns < start || time_ns > end) {
      this.goTo(time_ns - (end - start) / 2, time_ns + (end - start) / 2);
    }
  }

  /**
   * Zoom to the span, or to the selected block if there is no span.
   *
   * @param size of the frame
   * @returns whether there was something to zoom to
   */
  zoomToChoice(selected: Selection, size: { width_px: number; height_px: number }): boolean {
    const { blocks, choice } = this.memory;
    const { from_ns, to_ns } = choice;
    if (to_ns > from_ns) {
      const margin_ns = (to_ns - from_ns) * 0.04;
      this.goTo(from_ns - margin_ns, to_ns + margin_ns);
      return true;
    }
    const block = "allocation" in selected ? blocks.rows.indexOf(selected.allocation) : -1;
    if (block < 0 || !size.width_px || !size.height_px) {
      return false;
    }
    const near = windowAround(blocks, block, {
      ...size,
      whole_bytes: this.whole_bytes - this.floor_bytes,
    });
    this.goTo(near.from_ns, near.to_ns, near.shown);
    return true;
  }

  #whole(): Shown {
    const { first_ns, last_ns } = this.memory.blocks;
    return {
      from_ns: first_ns,
      to_ns: last_ns,
      from_bytes: this.floor_bytes,
      to_bytes: this.whole_bytes,
    };
  }

  /** Show a range of bytes, within the whole height. */
  #lift(from_bytes: number, height_bytes: number): void {
    const start = Math.max(0, Math.min(this.whole_bytes - height_bytes, from_bytes));
    this.#shown = { ...this.#shown, from_bytes: start, to_bytes: start + height_bytes };
  }
}

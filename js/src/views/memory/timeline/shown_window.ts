/** What of time and of bytes is on screen, and how it moves. */
import { reservedSteps } from "../../../memory/blocks/marks.ts";
import type { MemoryState } from "../../../memory/memory_state.ts";
import { windowAround } from "../../../memory/stack/locate.ts";
import type { Selection } from "../../../model/state/view_state.ts";
import type { MemoryFigure } from "../figure/figure.ts";

const LEAST_SPAN_NS = 20;
const HEADROOM = 1.08;

type Ranges = Pick<MemoryFigure, "x_range" | "y_range">;

/** Places are fractions of the frame, from its upper left. */
export class ShownWindow {
  /** The figure's, once there is one. */
  ranges: Ranges | undefined;

  /** @param changed whether the picture has to be made anew */
  constructor(
    readonly memory: MemoryState,
    readonly changed: (isNeeded: boolean) => void,
  ) {}

  get span(): { start: number; end: number } {
    const { first_ns, last_ns } = this.memory.blocks;
    return this.ranges?.x_range ?? { start: first_ns, end: last_ns };
  }

  /** Bytes over the whole height when nothing is magnified. */
  get whole_bytes(): number {
    const { blocks, trace } = this.memory;
    const peak_bytes = Math.max(1, blocks.events.peak_bytes);
    const reserved = Math.max(0, ...reservedSteps(trace, blocks.place).reserved_bytes);
    // A pool much larger than what was ever used would press the blocks flat.
    return HEADROOM * (reserved <= 1.5 * peak_bytes ? Math.max(reserved, peak_bytes) : peak_bytes);
  }

  /** What the trace never met may be most of the memory: it need not press all else flat. */
  get floor_bytes(): number {
    const { blocks } = this.memory;
    const earlier_bytes = blocks.rows[0] === -1 ? blocks.bytes[0]! : 0;
    const rest_bytes = this.whole_bytes - earlier_bytes;
    return earlier_bytes > rest_bytes ? earlier_bytes - 0.15 * rest_bytes : 0;
  }

  timeAt(x: number): number {
    const { start, end } = this.span;
    return start + x * (end - start);
  }

  /** Show the whole run. */
  fit(): void {
    const { first_ns, last_ns } = this.memory.blocks;
    this.#show(this.floor_bytes, this.whole_bytes);
    this.goTo(first_ns, last_ns);
    this.changed(true);
  }

  /** By `factor` around a place; of the height too where `isBoth`. */
  zoom(x: number, y: number, factor: number, isBoth: boolean): void {
    const { start, end } = this.span;
    const span_ns = Math.max(LEAST_SPAN_NS, (end - start) / factor);
    const from_ns = this.timeAt(x) - x * span_ns;
    this.goTo(from_ns, from_ns + span_ns);
    if (isBoth && this.ranges) {
      const { start: low, end: high } = this.ranges.y_range;
      const whole = this.whole_bytes;
      const height = Math.min(whole, (high - low) / factor);
      const at = high - y * (high - low);
      const bottom = Math.max(0, Math.min(whole - height, at - (1 - y) * height));
      this.#show(bottom, bottom + height);
      this.changed(true);
    }
  }

  /** By a fraction of the frame. */
  pan(dx: number, dy: number): void {
    const { start, end } = this.span;
    const by_ns = dx * (end - start);
    this.goTo(start - by_ns, end - by_ns);
    if (dy && this.ranges) {
      const { start: low, end: high } = this.ranges.y_range;
      const height = high - low;
      const bottom = Math.max(0, Math.min(this.whole_bytes - height, low + dy * height));
      this.#show(bottom, bottom + height);
      this.changed(false);
    }
  }

  /** A span of time, as far as the run goes; and of bytes where they are given. */
  goTo(from_ns: number, to_ns: number, bytes?: { from_bytes: number; to_bytes: number }): void {
    const { first_ns, last_ns } = this.memory.blocks;
    const span_ns = Math.min(to_ns - from_ns, last_ns - first_ns);
    const start = Math.max(first_ns, Math.min(last_ns - span_ns, from_ns));
    if (bytes) {
      this.#show(bytes.from_bytes, bytes.to_bytes);
    }
    this.ranges?.x_range.setv({ start, end: start + span_ns });
    if (bytes) {
      this.changed(true);
    }
  }

  /**
   * Move the moment, or with `isSpan` the end of the span; what is shown follows it.
   *
   * @param by fraction of what is on screen
   */
  step(by: number, isSpan: boolean): void {
    const { start, end } = this.span;
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

  /** Choose a moment, and show it. */
  jump(to: "first" | "last" | "peak"): void {
    const { first_ns, last_ns, events } = this.memory.blocks;
    const time_ns = { first: first_ns, last: last_ns, peak: events.peak_ns }[to];
    this.memory.update({ from_ns: time_ns, to_ns: time_ns });
    const { start, end } = this.span;
    if (time_ns < start || time_ns > end) {
      this.goTo(time_ns - (end - start) / 2, time_ns + (end - start) / 2);
    }
  }

  /**
   * Go to the span, or where there is none to the block that is selected.
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
    if (block < 0 || !this.ranges || !size.width_px || !size.height_px) {
      return false;
    }
    const near = windowAround(blocks, block, { ...size, whole_bytes: this.whole_bytes });
    this.goTo(near.from_ns, near.to_ns, near.shown);
    return true;
  }

  #show(from_bytes: number, to_bytes: number): void {
    this.ranges?.y_range.setv({ start: from_bytes, end: to_bytes });
  }
}

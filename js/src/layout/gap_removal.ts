/** Makes a picture narrower: removes wide empty columns. The order and small gaps stay. */

/** A horizontal interval that something covers. */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** The inner side of a frame's left or right edge. No gap stays between edge and content. */
  readonly edge?: "left" | "right";
}

/** Strips that are not wider than this stay unchanged. */
const LEAST_GAP_PX = 20;

/** Maps each x: the leftmost span begins at 0, spans keep their widths, wide gaps become narrow. */
export class GapRemoval {
  /** The start and end of each span, and how far the span moves to the left. */
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  readonly #moved: number[] = [];
  readonly width: number;

  constructor(spans: readonly Span[]) {
    const sorted = [...spans].sort((a, b) => a.from - b.from || a.to - b.to);
    let moved = sorted[0]?.from ?? 0;
    let last = Number.NEGATIVE_INFINITY;
    let isAtEdge = false;
    for (const { from, to, edge } of sorted) {
      if (from > last) {
        const gap = from - last;
        const room = isAtEdge || edge === "right" ? 0 : LEAST_GAP_PX;
        if (Number.isFinite(gap) && gap > room) {
          moved += gap - room;
        }
        this.#from.push(from);
        this.#to.push(to);
        this.#moved.push(moved);
      }
      if (to >= last) {
        isAtEdge = edge === "left" && (to > last || isAtEdge);
        last = to;
        this.#to[this.#to.length - 1] = to;
      }
    }
    this.width = this.at(last);
  }

  at(x: number): number {
    const count = this.#from.length;
    if (!count) {
      return x;
    }
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#from[middle]! <= x) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const block = Math.max(0, low - 1);
    const own = x - this.#moved[block]!;
    if (x <= this.#to[block]! || low === count || low === 0) {
      return own;
    }
    // The place is between two spans, in a gap that was made narrow.
    const end = this.#to[block]!;
    const begin = this.#from[low]!;
    const narrow = begin - this.#moved[low]! - (end - this.#moved[block]!);
    return end - this.#moved[block]! + ((x - end) / (begin - end)) * narrow;
  }
}

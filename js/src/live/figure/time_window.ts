/**
 * The span of time that the chart shows: the newest seconds, or a span that the user chose; and
 * wall-clock times.
 */

/** Times in ms since the sampler's start. */
export interface Window {
  readonly start_ms: number;
  readonly end_ms: number;
}

const FIRST_SPAN_MS = 30_000;
/** The least width of the window, while a chart has only few samples. */
const LEAST_SPAN_MS = 10_000;

export class TimeWindow {
  #span_ms = FIRST_SPAN_MS;
  /** The span that the user chose; undefined while the chart follows the newest values. */
  #looking_at: Window | undefined;

  get is_following(): boolean {
    return this.#looking_at === undefined;
  }

  /** Show the newest values, with the same width as before. */
  follow(): void {
    this.#looking_at = undefined;
  }

  /** Show the newest `span_ms`, or all values if it is infinite. */
  followFor(span_ms: number): void {
    this.#span_ms = span_ms;
    this.follow();
  }

  look(window: Window): void {
    this.#looking_at = window;
  }

  /** Move the window by a fraction of its width, or zoom it. The keyboard uses this. */
  move(by: number, zoom: number, { start_ms, end_ms }: Window): void {
    const width_ms = (end_ms - start_ms) * zoom;
    const middle_ms = (start_ms + end_ms) / 2 + by * (end_ms - start_ms);
    this.look({ start_ms: middle_ms - width_ms / 2, end_ms: middle_ms + width_ms / 2 });
  }

  /** The visible window. The first sample is at `first_ms`. Little time before it is shown. */
  at(now_ms: number, first_ms: number): Window {
    const span_ms = Math.min(this.#span_ms, Math.max(now_ms - first_ms, LEAST_SPAN_MS));
    return this.#looking_at ?? { start_ms: now_ms - span_ms, end_ms: now_ms };
  }
}

/**
 * The offset from the sampler's ms to the ms that Bokeh, which has no time zones, shows as local
 * time.
 */
export function localOffset(epoch_ms: number): number {
  return epoch_ms - new Date(epoch_ms).getTimezoneOffset() * 60_000;
}

/** The local time as text: `14:03:12.5`. */
export function clockTime(epoch_ms: number): string {
  const date = new Date(epoch_ms);
  const two = (value: number): string => String(value).padStart(2, "0");
  const tenths = Math.floor(date.getMilliseconds() / 100);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${tenths}`;
}

/** Which code ran when: the page's copy of the spans of one kind. */
import type { Span } from "./messages.ts";

/** As many as samples: a different layer may run at each sample. */
const CAPACITY = 6000;

export class Spans {
  #spans: Span[] = [];

  /** Add spans, sorted by start. When a running span ends, it is sent again. */
  append(spans: readonly Span[]): void {
    for (const span of spans) {
      while (this.#spans.length > 0 && this.#spans.at(-1)![0] >= span[0]) this.#spans.pop();
      this.#spans.push(span);
    }
    if (this.#spans.length > CAPACITY) this.#spans.splice(0, this.#spans.length - CAPACITY);
  }

  /** The label of the span that runs now, "" for none. */
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

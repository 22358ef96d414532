/** Which code ran when: the spans of one kind in the page. */
import type { Span } from "./messages.ts";

/** As many as samples, because each sample may be in a different layer. */
const CAPACITY = 6000;

export class Spans {
  #spans: Span[] = [];

  /** Add spans, sorted by start. A running span is sent again when it ends. */
  append(spans: readonly Span[]): void {
    for (const span of spans) {
      while (this.#spans.length > 0 && this.#spans.at(-1)![0] >= span[0]) this.#spans.pop();
      this.#spans.push(span);
    }
    if (this.#spans.length > CAPACITY) this.#spans.splice(0, this.#spans.length - CAPACITY);
  }

  /** The label of the running span, "" if there is none. */
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

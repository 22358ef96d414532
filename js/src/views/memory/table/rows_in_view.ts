/** Shows of a long table the rows on screen first: to lay out all of them takes longer than a frame. */

/** So many are on screen before it is known how many are. */
const FIRST_ROWS = 24;
/** No row is lower. */
const ROW_PX = 20;
/** The others follow when nothing has changed for so long. */
const REST_MS = 120;

export class RowsInView {
  readonly #observer: ResizeObserver;
  #height_px = 0;
  #rest: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param scroll the element that the rows are scrolled in */
  constructor(readonly scroll: HTMLElement) {
    this.#observer = new ResizeObserver(([entry]) => {
      this.#height_px = entry!.contentRect.height;
      this.finish();
    });
    this.#observer.observe(scroll);
    scroll.addEventListener("scroll", () => this.finish());
  }

  /**
   * Show rows from the first on: at once those on screen, the others later, or when it is scrolled.
   *
   * @param show is told how far to show rows, and how far they are shown
   */
  show(count: number, show: (from: number, to: number) => void): void {
    clearTimeout(this.#timer);
    const height_px = this.scroll.scrollTop + this.#height_px;
    const inView = height_px > 0 ? Math.ceil(height_px / ROW_PX) : FIRST_ROWS;
    const first = Math.min(count, inView);
    show(0, first);
    this.#rest = first < count ? () => show(first, count) : undefined;
    if (this.#rest) {
      this.#timer = setTimeout(() => this.finish(), REST_MS);
    }
  }

  /** Show the others now. */
  finish(): void {
    clearTimeout(this.#timer);
    const rest = this.#rest;
    this.#rest = undefined;
    rest?.();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#rest = undefined;
    this.#observer.disconnect();
  }
}

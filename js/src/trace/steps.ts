/** Long work in short steps, so that the page can answer in between. */

/** Work that can be done piece by piece: it pauses at every `yield`, and returns what it made. */
export type Steps<T> = Generator<void, T, void>;

/** Do all of it at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) {
      return step.value;
    }
  }
}

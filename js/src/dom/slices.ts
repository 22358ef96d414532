/** Does long work on the main thread in slices, so that the page answers in between. */
import { LayoutCancelled } from "../layout/index.ts";
import type { Steps } from "../trace/steps.ts";

/** A slice, with what the browser does beside it, still leaves the page at rest for its next frame. */
const SLICE_MS = 12;

/**
 * Run steps to their end. What fits into one slice is done before this returns its promise.
 *
 * @param isStale asked between slices
 * @throws LayoutCancelled once `isStale` said so.
 */
export async function inSlices<T>(steps: Steps<T>, isStale: () => boolean): Promise<T> {
  for (;;) {
    const end_ms = performance.now() + SLICE_MS;
    while (performance.now() < end_ms) {
      const step = steps.next();
      if (step.done) {
        return step.value;
      }
    }
    await breath();
    if (isStale()) {
      throw new LayoutCancelled();
    }
  }
}

/** Where the browser knows them, tasks that go on before others that wait, though after what people do. */
const { scheduler } = globalThis as { scheduler?: { yield?(): Promise<void> } };

/** Lets the page answer and paint; then goes on at once, where the browser can tell that from other work. */
export function breath(): Promise<void> {
  return scheduler?.yield?.() ?? nextTask();
}

/** After what waits: a timer would come later, and only once a second in a page that is hidden. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}

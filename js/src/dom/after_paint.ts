/** Waits until the screen is painted. */
import { nextTask } from "./next_task.ts";

/** How long to wait for a frame: a hidden page paints none. */
const PATIENCE_MS = 250;

/** Resolves once the next frame has been painted, after other callbacks that wait for it. */
export function afterPaint(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve(nextTask().then(nextTask));
    });
  });
}

/** Waits for the screen. */
import { nextTask } from "./next_task.ts";

/** A page that is hidden paints no frames. */
const PATIENCE_MS = 250;

/** Resolves once the next frame has been painted, after what else waits for that. */
export function afterPaint(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve(nextTask().then(nextTask));
    });
  });
}

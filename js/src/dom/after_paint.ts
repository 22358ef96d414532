/** Waits until the screen is painted. */
import { nextTask } from "./next_task.ts";

/** How long to wait for a frame. A hidden page does not paint frames. */
const PATIENCE_MS = 250;

/** Resolves after the next frame was painted, and after other callbacks that wait for it. */
export function afterPaint(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve(nextTask().then(nextTask));
    });
  });
}

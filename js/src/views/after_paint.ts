/** Waits for the screen. */
import { nextTask } from "./scene/slices.ts";

/** A page that is hidden paints no frames. */
const PATIENCE_MS = 250;

/** Resolves in a task of its own once the next frame has been painted. */
export function afterPaint(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve(nextTask());
    });
  });
}

/** Waits until the screen is painted. */

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

/**
 * Resolves in a new task, after waiting tasks. A timer would be slower: in a hidden page it runs
 * once a second.
 */
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

/** Resolves in a task of its own, after the tasks that wait: a timer would come later, and only once a second in a page that is hidden. */
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

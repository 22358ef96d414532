/** Detects the first cell that may trace, so that the view is loaded while the cell runs. */
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";

/** Code that loads the extension or records a trace. */
const TRACES = /\bpaddle_(lab|trace|mem)\b/;

/** Call `act` once, when a kernel begins to run the first cell that mentions Paddle Lab. */
export function onFirstUse(tracker: INotebookTracker, act: () => void): void {
  const watch = (_: unknown, { sessionContext: { iopubMessage } }: NotebookPanel): void => {
    const read: Parameters<typeof iopubMessage.connect>[0] = (_, { header, content }) => {
      if (header.msg_type !== "execute_input" || !TRACES.test(String(content.code))) return;
      iopubMessage.disconnect(read);
      tracker.widgetAdded.disconnect(watch);
      if (!isUsed) act();
      isUsed = true;
    };
    iopubMessage.connect(read);
  };
  let isUsed = false;
  tracker.widgetAdded.connect(watch);
  tracker.forEach((panel) => {
    watch(tracker, panel);
  });
}

/** Notices that a notebook is about to trace, so that the view is loaded while its cell runs. */
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";

/** What a cell says that loads the extension, or traces. */
export const TRACES = /\bpaddle_(lab|trace|mem)\b/;
/** What a cell says that shows memory. */
export const SHOWS_MEMORY = /\bpaddle_mem\b|\bpaddle_lab\.memory\b/;

/** Call `act` once: when a notebook's kernel begins with the first cell that says one of `names`. */
export function onFirstUse(tracker: INotebookTracker, names: RegExp, act: () => void): void {
  const watch = (_: unknown, { sessionContext: { iopubMessage } }: NotebookPanel): void => {
    const read: Parameters<typeof iopubMessage.connect>[0] = (_, { header, content }) => {
      if (header.msg_type !== "execute_input" || !names.test(String(content.code))) return;
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

/**
 * Tells the kernel that a widget's output was cleared or deleted, so that the kernel closes the
 * widget.
 */
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import { modelId } from "./graph_mime.ts";
import { managerOf } from "./widget_manager.ts";

/** How long to wait: a cell may only have been moved, or its deletion may be undone. */
const PATIENCE_MS = 2000;

/** Call this when an output of `panel` with this data is disposed of. */
export function reportCleared(
  tracker: INotebookTracker,
  panel: NotebookPanel,
  data: Readonly<Record<string, unknown>>,
): void {
  const id = modelId(data);
  if (id === undefined) return;
  setTimeout(() => void report(tracker, panel, id).catch(() => {}), PATIENCE_MS);
}

async function report(tracker: INotebookTracker, panel: NotebookPanel, id: string): Promise<void> {
  // Wait for the kernel: a running cell may show the widget again, and a busy kernel cannot answer.
  while (!panel.isDisposed && panel.sessionContext.session?.kernel?.status === "busy") {
    await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  }
  // A notebook that is only closed shows the widget again when it is opened.
  if (panel.isDisposed || isNamed(tracker, panel, id)) return;
  const manager = await managerOf(panel.content.rendermime);
  if (!manager?.has_model(id)) return;
  const model = await manager.get_model(id);
  model.send({ kind: "cleared" }, {});
}

/** Whether an output in some notebook of the same kernel shows the widget. */
function isNamed(tracker: INotebookTracker, panel: NotebookPanel, id: string): boolean {
  const kernel = kernelId(panel);
  let is_named = false;
  tracker.forEach((each) => {
    if (is_named || each.isDisposed || kernelId(each) !== kernel) return;
    for (const { outputs } of each.content.model?.cells ?? []) {
      for (let index = 0; index < (outputs?.length ?? 0); index++) {
        is_named ||= modelId(outputs?.get(index).data) === id;
      }
    }
  });
  return is_named;
}

function kernelId({ sessionContext }: NotebookPanel): string | undefined {
  return sessionContext.session?.kernel?.id;
}

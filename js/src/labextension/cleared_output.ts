/**
 * Tells the kernel that a widget's output was cleared or deleted, so that the kernel closes the
 * widget.
 */

import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import type { IRenderMimeRegistry, Renderer } from "@jupyterlab/rendermime";
import { modelId, WIDGET_MIME_TYPE } from "./graph_mime.ts";

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

/** The parts of a notebook's widget manager that the plugin uses. */
interface WidgetModel {
  send(content: Record<string, unknown>, callbacks: object): void;
}

/** The used parts of `ManagerBase` of @jupyter-widgets/base-manager. */
interface WidgetManager {
  has_model(model_id: string): boolean;
  get_model(model_id: string): Promise<WidgetModel>;
}

/** A notebook has a widget manager as soon as its kernel is known. */
const MANAGER_LIMIT_MS = 5000;

/** @returns `undefined` if the notebook has no widget manager within `MANAGER_LIMIT_MS` */
async function managerOf(rendermime: IRenderMimeRegistry): Promise<WidgetManager | undefined> {
  const renderer = rendermime.createRenderer(WIDGET_MIME_TYPE);
  try {
    return await managerOfRenderer(renderer);
  } finally {
    renderer.dispose();
  }
}

/** The manager of a widget renderer. There is no other way to get it. */
function managerOfRenderer(renderer: Renderer): Promise<WidgetManager | undefined> {
  const { _manager } = renderer as { _manager?: { readonly promise?: Promise<WidgetManager> } };
  const later = new Promise<undefined>((resolve) => setTimeout(resolve, MANAGER_LIMIT_MS));
  return Promise.race([_manager?.promise, later]);
}

/**
 * Before a notebook's first graph: runs what JupyterLab and anywidget run for it, so that it is fast by then. JupyterLab
 * looks for headings in the HTML beside a widget, and the notebook's widget manager has to make a model and a view.
 */
import type { NotebookPanel } from "@jupyterlab/notebook";
import { later, managerOf, type WidgetManager } from "./widget_manager.ts";

const ANYWIDGET = { model_module: "anywidget", model_module_version: "*", model_name: "AnyModel" };
const ANYVIEW = { _view_module: "anywidget", _view_module_version: "*", _view_name: "AnyView" };

/** It tells of its view: a model that is closed before it has been initialized fails loudly. */
const MODULE =
  "export default { initialize() {}, render({ model }) { model.set('is_shown', true); } };";

/** Rejects where something is not as expected: then the first graph takes a little longer. */
export async function warmUpNotebook(panel: NotebookPanel): Promise<void> {
  const { rendermime } = panel.content;
  rendermime.sanitizer.sanitize(sampleOfHtml());
  const manager = await managerOf(rendermime);
  if (manager) await showNothing(manager);
}

/** A widget that no kernel knows of: it has no comm, so that no notebook stores it. */
async function showNothing(manager: WidgetManager): Promise<void> {
  const model = await manager.new_model(
    { ...ANYWIDGET, model_id: `paddle-lab-${Math.random().toString(36).slice(2)}` },
    { ...ANYVIEW, _esm: MODULE },
  );
  const shown = new Promise<void>((resolve) => model.once("change:is_shown", resolve));
  try {
    const view = await manager.create_view(model);
    await Promise.race([shown, later()]);
    // anywidget is told in the same task.
    await new Promise((resolve) => setTimeout(resolve));
    view.remove();
  } finally {
    // The manager forgets it then.
    model.trigger("comm:close");
    await model.close(true);
  }
}

/** Of the kinds of elements that `paddle_lab/views/fallback.py` writes. */
function sampleOfHtml(): string {
  const picture = `<img src="data:image/svg+xml;base64,${"QUJD".repeat(500)}" alt="">`;
  const row = "<tr><td>&nbsp;net.py</td><td>12</td><td>tanh &lt;</td></tr>";
  const table = `<details><summary>Lines</summary><table>${row.repeat(60)}</table></details>`;
  return `<div>${picture}<p><b>1</b> <i>A <code>picture</code></i></p>${table}</div>`;
}

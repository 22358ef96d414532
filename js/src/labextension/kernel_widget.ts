/** Shows a kernel's widget in an output, and reports whether that was possible. */
import type { NotebookPanel } from "@jupyterlab/notebook";
import type { Panel } from "@lumino/widgets";
import { modelId, WIDGET_MIME_TYPE } from "./graph_mime.ts";

/**
 * "failed": the page cannot load the widget's code. "absent": there is no kernel, or it does not
 * have the widget.
 */
export type Outcome = "shown" | "failed" | "absent";

/** JupyterLab's widget manager shows this instead of a widget that failed. */
const ERROR = ".jupyter-widgets-error-widget";

/**
 * Show a widget at the end of `parent`. If this fails, leave `parent` unchanged.
 *
 * @param data the output's data
 * @param limit_ms how long this may take; infinite if a busy kernel has to answer
 */
export async function showKernelWidget(
  parent: Panel,
  panel: NotebookPanel | null,
  data: Readonly<Record<string, unknown>>,
  { limit_ms = Number.POSITIVE_INFINITY, isHidden = false } = {},
): Promise<Outcome> {
  const rendermime = panel?.content.rendermime;
  const model_id = modelId(data);
  if (
    model_id === undefined ||
    !panel?.sessionContext.session?.kernel ||
    rendermime?.getFactory(WIDGET_MIME_TYPE) === undefined
  ) {
    return "absent";
  }
  const widget = rendermime.createRenderer(WIDGET_MIME_TYPE);
  widget.node.hidden = isHidden;
  parent.addWidget(widget);
  const view = { version_major: 2, version_minor: 0, model_id };
  const rendered = widget
    .renderModel({ data: { [WIDGET_MIME_TYPE]: view } })
    .catch(() => {})
    .then(() => {});
  // A view that is made after its renderer was disposed of would stay forever, so dispose of it
  // then.
  const takeAway = (): void => {
    // If the parent is being disposed of, it disposes of all widgets in its layout. Otherwise
    // remove the widget as a child. If only the layout removed it, its disposal would also remove
    // the last child.
    if (parent.isDisposed) parent.layout?.removeWidget(widget);
    else widget.parent = null;
    void rendered.then(() => widget.dispose());
  };
  parent.disposed.connect(takeAway);
  await (limit_ms === Number.POSITIVE_INFINITY
    ? rendered
    : Promise.race([rendered, new Promise((resolve) => setTimeout(resolve, limit_ms))]));
  if (parent.isDisposed) return "absent";
  parent.disposed.disconnect(takeAway);
  const isError = widget.node.querySelector(ERROR) !== null;
  // While a widget loads or is missing, the node has only text. A shown widget has a child element.
  if (widget.node.childElementCount > 0 && !isError) {
    widget.node.hidden = false;
    return "shown";
  }
  takeAway();
  return isError ? "failed" : "absent";
}

/** A notebook's widget manager, as far as the plugin uses it. */
import type { IRenderMimeRegistry, Renderer } from "@jupyterlab/rendermime";
import { WIDGET_MIME_TYPE } from "./graph_mime.ts";

export interface WidgetModel {
  send(content: Record<string, unknown>, callbacks: object): void;
}

/** The used parts of `ManagerBase` of @jupyter-widgets/base-manager. */
export interface WidgetManager {
  has_model(model_id: string): boolean;
  get_model(model_id: string): Promise<WidgetModel>;
}

/** A notebook has a widget manager once its kernel is known. */
const PATIENCE_MS = 5000;

/** @returns `undefined` if the notebook has no widget manager within `PATIENCE_MS` */
export async function managerOf(
  rendermime: IRenderMimeRegistry,
): Promise<WidgetManager | undefined> {
  const renderer = rendermime.createRenderer(WIDGET_MIME_TYPE);
  try {
    return await managerOfRenderer(renderer);
  } finally {
    renderer.dispose();
  }
}

/** The manager that a widget renderer holds. There is no other way to get the manager. */
function managerOfRenderer(renderer: Renderer): Promise<WidgetManager | undefined> {
  const { _manager } = renderer as { _manager?: { readonly promise?: Promise<WidgetManager> } };
  const later = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE_MS));
  return Promise.race([_manager?.promise, later]);
}

/** The parts of a notebook's widget manager that the plugin uses. */
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

/** A notebook has a widget manager as soon as its kernel is known. */
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

/** The manager of a widget renderer. There is no other way to get it. */
function managerOfRenderer(renderer: Renderer): Promise<WidgetManager | undefined> {
  const { _manager } = renderer as { _manager?: { readonly promise?: Promise<WidgetManager> } };
  const later = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE_MS));
  return Promise.race([_manager?.promise, later]);
}

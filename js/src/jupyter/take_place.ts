/**
 * Replaces the static picture in an output by the widget. A page without anywidget keeps the
 * picture (paddle_lab/views/widgets/cell_widget.py).
 */
import type { AnyModel } from "@anywidget/types";

export interface StandInTrait {
  /** The model of the substitute and, after this widget is loaded, the substitute's outputs. */
  _stand_in: { model_id?: string; outputs?: unknown };
}

export function takePlace(model: AnyModel<StandInTrait>): void {
  const take = async (): Promise<void> => {
    const { model_id, outputs } = model.get("_stand_in") ?? {};
    if (!model_id) return;
    const standIn = await model.widget_manager.get_model<{ outputs: unknown }>(model_id);
    // Change only this page: another page of the same kernel may still need the picture.
    standIn.set("outputs", outputs);
  };
  // If the model does not exist, no output of this page shows it.
  const tryIt = (): void => void take().catch(() => {});
  model.on("change:_stand_in", tryIt);
  tryIt();
}

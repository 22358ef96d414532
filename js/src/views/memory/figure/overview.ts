/** The whole run in small, with a window over it that is dragged. */
import type { CarriedModels } from "../../../charts/bokeh_loader.ts";
import { addLayer, corners, type Plot } from "./layers.ts";
import type { MemoryPalette } from "./palette.ts";

type Range = InstanceType<CarriedModels["Range1d"]>;

export interface Overview {
  readonly plot: Plot;
  /** The whole run's total, as steps. */
  set(times_ns: Float64Array, total_bytes: Float64Array): void;
  setTheme(palette: MemoryPalette): void;
}

/**
 * @param newPlot makes an empty figure of two ranges
 * @param shown what the window is over
 */
export function memoryOverview(
  models: CarriedModels,
  newPlot: (x: Range, y: Range) => Plot,
  shown: Range,
): Overview {
  const x_range = new models.Range1d({ start: 0, end: 1 });
  const y_range = new models.Range1d({ start: 0, end: 1 });
  const plot = newPlot(x_range, y_range);
  const area = new models.VArea({
    x: { field: "x" },
    y1: 0,
    y2: { field: "y" },
    fill_alpha: 0.35,
  });
  const layer = addLayer(models, plot, ["x", "y"], area);
  const overlay = new models.BoxAnnotation({
    fill_alpha: 0.05,
    line_alpha: 0.7,
    line_width: 1,
    editable: true,
  });
  plot.toolbar.tools = [new models.RangeTool({ x_range: shown, overlay, start_gesture: "pan" })];
  return {
    plot,
    set(times_ns, total_bytes) {
      const y = Array.from(total_bytes);
      x_range.setv({ start: times_ns[0]!, end: times_ns.at(-1)! });
      y_range.setv({ start: 0, end: Math.max(1, ...y) * 1.05 });
      layer.fill({ x: corners(Array.from(times_ns)).slice(1), y: corners(y).slice(0, -1) });
    },
    setTheme({ soft, forward }) {
      area.fill_color = soft;
      overlay.fill_color = forward;
      overlay.line_color = forward;
    },
  };
}

/** The whole run in small, with a window over it that is dragged. */
import { type CarriedBokeh, carriedModels } from "../../../charts/bokeh_loader.ts";
import { type Plot, paintedLayer, type Range } from "./painted_layer.ts";
import type { MemoryPalette } from "./palette.ts";

const AREA_ALPHA = 0.35;

export interface Overview {
  readonly plot: Plot;
  /** The whole run's total, as steps. */
  set(times_ns: Float64Array, total_bytes: Float64Array): void;
  setTheme(palette: MemoryPalette): void;
}

/**
 * @param plot an empty figure of its own
 * @param shown what the window is over
 */
export function memoryOverview(
  bokeh: CarriedBokeh,
  plot: Plot,
  x_range: Range,
  y_range: Range,
  shown: Range,
): Overview {
  const models = carriedModels(bokeh);
  let times: Float64Array = new Float64Array(0);
  let totals = times;
  let colour = "";
  const { renderer, repaint } = paintedLayer(bokeh, "glyph", (context, frame, { x, y }) => {
    context.globalAlpha = AREA_ALPHA;
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(x(frame.from_ns), y(0));
    times.forEach((time_ns, at) => {
      context.lineTo(x(time_ns), y(totals[at]!));
      context.lineTo(x(times[at + 1] ?? time_ns), y(totals[at]!));
    });
    context.lineTo(x(frame.to_ns), y(0));
    context.fill();
  });
  plot.renderers = [renderer];
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
      [times, totals] = [times_ns, total_bytes];
      x_range.setv({ start: times_ns[0]!, end: times_ns.at(-1)! });
      y_range.setv({ start: 0, end: Math.max(1, ...total_bytes) * 1.05 });
      repaint();
    },
    setTheme({ soft, forward }) {
      colour = soft;
      overlay.fill_color = forward;
      overlay.line_color = forward;
      repaint();
    },
  };
}

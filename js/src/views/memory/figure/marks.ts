/** What is marked over the stack of blocks: steps, the peak, reserved memory, the moment. */
import type { CarriedModels } from "../../../charts/bokeh_loader.ts";
import { addLayer, type Plot } from "./layers.ts";
import type { MemoryPalette } from "./palette.ts";

export interface LineMarks {
  setReserved(times_ns: readonly number[], reserved_bytes: readonly number[], end_ns: number): void;
  setSteps(ends_ns: ArrayLike<number>): void;
  setPeak(time_ns: number, bytes: number): void;
  setMoment(from_ns: number, to_ns: number): void;
  setTheme(palette: MemoryPalette): void;
}

/** Reserved memory, ends of steps, the peak; and on top the moment or span that is looked at. */
export function lineMarks(models: CarriedModels, plot: Plot): LineMarks {
  const reserved = new models.Step({
    x: { field: "x" },
    y: { field: "y" },
    mode: "after",
    line_width: 1.25,
    line_dash: [6, 4],
  });
  const reservedLayer = addLayer(models, plot, ["x", "y"], reserved);
  const steps = new models.VSpan({ x: { field: "x" }, line_width: 1, line_dash: [2, 3] });
  const stepsLayer = addLayer(models, plot, ["x"], steps);
  const peak = new models.Text({
    x: { field: "x" },
    y: { field: "y" },
    text: { field: "name" },
    text_align: "center",
    text_baseline: "bottom",
    text_font_size: "9px",
  });
  const peakLayer = addLayer(models, plot, ["x", "y", "name"], peak, { level: "annotation" });
  const span = new models.BoxAnnotation({
    left: 0,
    right: 0,
    fill_alpha: 0.12,
    line_alpha: 0.9,
    line_width: 1.5,
    level: "overlay",
  });
  plot.renderers = [...plot.renderers, span];
  return {
    setReserved(times_ns, reserved_bytes, end_ns) {
      const last = reserved_bytes.at(-1);
      reservedLayer.fill(
        last === undefined ? {} : { x: [...times_ns, end_ns], y: [...reserved_bytes, last] },
      );
    },
    setSteps: (ends_ns) => stepsLayer.fill({ x: Array.from(ends_ns) }),
    setPeak: (time_ns, bytes) => peakLayer.fill({ x: [time_ns], y: [bytes], name: ["▼"] }),
    setMoment: (from_ns, to_ns) => span.setv({ left: from_ns, right: to_ns }),
    setTheme({ ink, soft, select }) {
      reserved.line_color = soft;
      steps.line_color = soft;
      peak.text_color = ink;
      span.fill_color = select;
      span.line_color = select;
    },
  };
}

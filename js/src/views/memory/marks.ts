/** What is marked over the stack of blocks: phases, steps, the peak, reserved memory, the moment. */
import type { CarriedModels } from "../../charts/bokeh_loader.ts";
import type { PhaseSpan } from "../../memory/marks.ts";
import { PHASES } from "../../protocol.ts";
import { addLayer, type Plot } from "./layers.ts";
import type { MemoryPalette } from "./palette.ts";

/** Of the phases' names. */
const LETTER_PX = 6.5;

export interface PhaseMarks {
  set(spans: readonly PhaseSpan[], px_ns: number): void;
  setTheme(palette: MemoryPalette): void;
}

/** Tinted spans behind all, and their names at the top. */
export function phaseMarks(models: CarriedModels, plot: Plot): PhaseMarks {
  const areas = addLayer(
    models,
    plot,
    ["from", "to", "colour"],
    new models.Quad({
      left: { field: "from" },
      right: { field: "to" },
      bottom: 0,
      top: 1,
      fill_color: { field: "colour" },
      fill_alpha: 0.07,
      line_color: null,
    }),
    { y_range_name: "unit", level: "underlay" },
  );
  const text = new models.Text({
    x: { field: "from" },
    y: 1,
    x_offset: 5,
    y_offset: 3,
    text: { field: "name" },
    text_baseline: "top",
    text_font_size: "11px",
    text_color: { field: "colour" },
  });
  // What is on the overlay's level is drawn beyond the frame too.
  const names = addLayer(models, plot, ["from", "colour", "name"], text, {
    y_range_name: "unit",
    level: "annotation",
  });
  let shown: readonly [spans: readonly PhaseSpan[], px_ns: number] = [[], 1];
  const marks: PhaseMarks & { colours?: MemoryPalette } = {
    set(spans, px_ns) {
      shown = [spans, px_ns];
      const { colours } = marks;
      if (!colours) return;
      areas.fill({
        from: spans.map((at) => at.from_ns),
        to: spans.map((at) => at.to_ns),
        colour: spans.map((at) => colours[PHASES[at.phase]!]),
      });
      const named = spans.filter(
        ({ phase, from_ns, to_ns }) =>
          (to_ns - from_ns) / px_ns > PHASES[phase]!.length * LETTER_PX + 10,
      );
      names.fill({
        from: named.map((at) => at.from_ns),
        colour: named.map((at) => colours[PHASES[at.phase]!]),
        name: named.map((at) => PHASES[at.phase]!),
      });
    },
    setTheme(palette) {
      marks.colours = palette;
      text.text_font = palette.font;
      marks.set(...shown);
    },
  };
  return marks;
}

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

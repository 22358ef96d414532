/** The timeline's figures, drawn by Bokeh: the stack of blocks, and below it the whole run. */
import type { PlotView } from "@bokeh/bokehjs/build/js/lib/models/plots/plot_canvas";
import {
  type CarriedBokeh,
  type CarriedModels,
  carriedModels,
} from "../../../charts/bokeh_loader.ts";
import { openDocument, takeFromTabOrder } from "../../../charts/mount_figure.ts";
import type { Blocks } from "../../../memory/blocks/blocks.ts";
import type { PhaseSpan } from "../../../memory/blocks/phases.ts";
import type { StackPicture } from "../../../memory/stack/stack_window.ts";
import { memoryAxes } from "./axes.ts";
import type { Plot } from "./layers.ts";
import { type LineMarks, lineMarks } from "./marks.ts";
import { memoryOverview } from "./overview.ts";
import type { MemoryPalette } from "./palette.ts";
import { phaseMarks } from "./phase_marks.ts";
import { stackLayer } from "./stack_layer.ts";
import type { LitBlocks } from "./stack_paint.ts";

/** Room around the frame in px: what is on the page above the frame is placed by it. */
export const FRAME = { left: 66, right: 18, top: 6, bottom: 24 } as const;

type Range = InstanceType<CarriedModels["Range1d"]>;

export interface MemoryFigure extends LineMarks {
  readonly x_range: Range;
  readonly y_range: Range;
  setPicture(blocks: Blocks, picture: StackPicture, lit: LitBlocks | undefined): void;
  /** Of the picture that is shown. */
  setLit(lit: LitBlocks | undefined): void;
  setPhases(spans: readonly PhaseSpan[]): void;
  /** The whole run's total, as steps. */
  setOverview(times_ns: Float64Array, total_bytes: Float64Array): void;
  /** Draw it, with what it was given before. */
  mount(roots: { main: HTMLElement; overview: HTMLElement }): Promise<void>;
  /** Copies of what is drawn, the stack and the overview, once they are. */
  canvases(): HTMLCanvasElement[];
  dispose(): void;
}

export function memoryFigure(bokeh: CarriedBokeh, palette: MemoryPalette): MemoryFigure {
  const models = carriedModels(bokeh);
  const x_range = new models.Range1d({ start: 0, end: 1 });
  const y_range = new models.Range1d({ start: 0, end: 1 });
  const main = emptyPlot(models, x_range, y_range, FRAME);
  const phases = phaseMarks(bokeh, palette);
  const stack = stackLayer(bokeh, palette);
  main.renderers = [...phases.renderers, stack.renderer];
  const lines = lineMarks(models, main);
  const overview = memoryOverview(
    models,
    (x, y) => emptyPlot(models, x, y, { top: 4, bottom: 4 }),
    x_range,
  );
  const axes = memoryAxes(models, () => main.outer_width);
  for (const [side, axis, grid] of axes) {
    main[side] = [axis];
    main.center = [...main.center, grid];
  }
  const { document: page, close } = openDocument(bokeh);
  let views: Awaited<ReturnType<typeof bokeh.embed.add_document_standalone>> | undefined;
  const figure: MemoryFigure = {
    ...lines,
    x_range,
    y_range,
    setPicture: stack.show,
    setLit: stack.light,
    setPeak(time_ns, bytes) {
      lines.setPeak(time_ns, bytes);
      phases.avoid(time_ns);
    },
    setPhases: phases.set,
    setOverview: overview.set,
    setTheme(changed) {
      for (const part of [phases, stack, lines, overview]) {
        part.setTheme(changed);
      }
      for (const [, axis, grid] of axes) {
        axis.major_label_text_color = changed.soft;
        axis.major_label_text_font = changed.font;
        axis.major_tick_line_color = changed.line;
        grid.grid_line_color = changed.line;
      }
    },
    async mount(roots) {
      // It would tell the console how long it took.
      bokeh.logger.set_level("warn");
      page.add_root(main);
      page.add_root(overview.plot);
      views = await bokeh.embed.add_document_standalone(page, roots.main, [
        roots.main,
        roots.overview,
      ]);
      takeFromTabOrder(views);
    },
    canvases: () =>
      [main, overview.plot].flatMap((plot) => {
        const view = views?.find_one(plot) as PlotView | null | undefined;
        return view ? [view.export("png").canvas] : [];
      }),
    dispose: close,
  };
  figure.setTheme(palette);
  return figure;
}

function emptyPlot(
  models: CarriedModels,
  x_range: Range,
  y_range: Range,
  margin: { top: number; bottom: number },
): Plot {
  return new models.Plot({
    x_range,
    y_range,
    sizing_mode: "stretch_both",
    min_border_left: FRAME.left,
    min_border_right: FRAME.right,
    min_border_top: margin.top,
    min_border_bottom: margin.bottom,
    toolbar_location: null,
    outline_line_color: null,
    // The page's own ground shows through: what was painted in another theme leaves its edges.
    background_fill_color: null,
    border_fill_color: null,
    title: null,
    extra_y_ranges: { unit: new models.Range1d({ start: 0, end: 1 }) },
  });
}

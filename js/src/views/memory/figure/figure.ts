/** The timeline's figures, drawn by Bokeh: the stack of blocks, and below it the whole run. */
import type { PlotView } from "@bokeh/bokehjs/build/js/lib/models/plots/plot_canvas";
import {
  type CarriedBokeh,
  type CarriedModels,
  carriedModels,
} from "../../../charts/bokeh_loader.ts";
import { openDocument, takeFromTabOrder } from "../../../charts/mount_figure.ts";
import type { Blocks } from "../../../memory/blocks/blocks.ts";
import type { StackPicture } from "../../../memory/stack/stack_window.ts";
import { memoryAxes } from "./axes.ts";
import { type Marks, NO_MARKS, paintLines, paintNames, paintTints } from "./marks.ts";
import { memoryOverview } from "./overview.ts";
import { type Plot, paintedLayer, type Range } from "./painted_layer.ts";
import type { MemoryPalette } from "./palette.ts";
import { type LitBlocks, paintStack } from "./stack_paint.ts";

/** Room around the frame in px: what is on the page above the frame is placed by it. */
export const FRAME = { left: 66, right: 18, top: 6, bottom: 24 } as const;

export interface MemoryFigure {
  readonly x_range: Range;
  readonly y_range: Range;
  setStack(blocks: Blocks, picture: StackPicture, lit: LitBlocks | undefined): void;
  /** Of the stack that is shown. */
  setLit(lit: LitBlocks | undefined): void;
  mark(change: Partial<Marks>): void;
  setMoment(from_ns: number, to_ns: number): void;
  /** The whole run's total, as steps. */
  setOverview(times_ns: Float64Array, total_bytes: Float64Array): void;
  setTheme(palette: MemoryPalette): void;
  /** Draw it, with what it was given before. */
  mount(roots: { main: HTMLElement; overview: HTMLElement }): Promise<void>;
  /** Copies of what is drawn, the stack and the overview, once they are. */
  canvases(): HTMLCanvasElement[];
  dispose(): void;
}

/**
 * Bokeh's own glyphs take lists of lists, which for thousands of blocks and their moves cost more than all else at
 * every zoom; so what is in the frame is painted from typed arrays, and Bokeh gives it axes, ranges and tools.
 */
export function memoryFigure(bokeh: CarriedBokeh, palette: MemoryPalette): MemoryFigure {
  const models = carriedModels(bokeh);
  const newRange = (): Range => new models.Range1d({ start: 0, end: 1 });
  const [x_range, y_range, run_x, run_y] = [newRange(), newRange(), newRange(), newRange()];
  const main = emptyPlot(models, x_range, y_range, FRAME);
  const plot = emptyPlot(models, run_x, run_y, { top: 4, bottom: 4 });
  const overview = memoryOverview(bokeh, plot, run_x, run_y, x_range);
  let colours = palette;
  let marks = NO_MARKS;
  let stack: readonly [Blocks, StackPicture, LitBlocks | undefined] | undefined;
  const layers = [
    paintedLayer(bokeh, "underlay", (context, frame, places) =>
      paintTints(context, frame, places, marks, colours),
    ),
    paintedLayer(bokeh, "glyph", (context, frame, places) => {
      if (stack) paintStack(context, frame, places, ...stack, colours);
      paintLines(context, frame, places, marks, colours);
    }),
    paintedLayer(bokeh, "annotation", (context, frame, places) =>
      paintNames(context, frame, places, marks, colours),
    ),
  ];
  const moment = new models.BoxAnnotation({
    left: 0,
    right: 0,
    fill_alpha: 0.12,
    line_alpha: 0.9,
    line_width: 1.5,
    level: "overlay",
  });
  main.renderers = [...layers.map(({ renderer }) => renderer), moment];
  const axes = memoryAxes(models, () => main.outer_width);
  for (const [side, axis, grid] of axes) {
    main[side] = [axis];
    main.center = [...main.center, grid];
  }
  const { document: page, close } = openDocument(bokeh);
  let views: Awaited<ReturnType<typeof bokeh.embed.add_document_standalone>> | undefined;
  const repaint = (): void => {
    for (const layer of layers) layer.repaint();
  };
  const figure: MemoryFigure = {
    x_range,
    y_range,
    setStack(...shown) {
      stack = shown;
      repaint();
    },
    setLit(lit) {
      stack &&= [stack[0], stack[1], lit];
      repaint();
    },
    mark(change) {
      marks = { ...marks, ...change };
      repaint();
    },
    setMoment: (from_ns, to_ns) => moment.setv({ left: from_ns, right: to_ns }),
    setOverview: overview.set,
    setTheme(changed) {
      colours = changed;
      moment.fill_color = changed.select;
      moment.line_color = changed.select;
      overview.setTheme(changed);
      for (const [, axis, grid] of axes) {
        axis.major_label_text_color = changed.soft;
        axis.major_label_text_font = changed.font;
        axis.major_tick_line_color = changed.line;
        grid.grid_line_color = changed.line;
      }
      repaint();
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
  });
}

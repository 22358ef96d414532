/** The timeline's figures, drawn by Bokeh: the stack of blocks, and below it the whole run. */
import type { Document as BokehDocument } from "@bokeh/bokehjs/build/js/lib/document/index";
import type { PlotView } from "@bokeh/bokehjs/build/js/lib/models/plots/plot_canvas";
import { type BokehNamespace, bokehModels } from "../charts/bokeh_loader.ts";
import type { Blocks } from "../memory/blocks.ts";
import { MEMORY_KINDS } from "../memory/kinds.ts";
import type { PhaseSpan } from "../memory/marks.ts";
import type { StackPicture } from "../memory/stack_window.ts";
import { PHASES } from "../protocol.ts";
import { memoryAxes } from "./memory_axes.ts";
import { blockColours, blockOutlines, corners, type LitBlocks } from "./memory_columns.ts";
import type { MemoryPalette } from "./memory_palette.ts";

/** Room around the frame in px: what is on the page above the frame is placed by it. */
export const FRAME = { left: 66, right: 18, top: 6, bottom: 24 } as const;
const BAND_ALPHA = 0.55;
const FADED_BAND_ALPHA = 0.16;
/** Of the phases' names. */
const LETTER_PX = 6.5;

type Source = InstanceType<ReturnType<typeof bokehModels>["ColumnDataSource"]>;
type Range = InstanceType<ReturnType<typeof bokehModels>["Range1d"]>;

export interface MemoryFigure {
  readonly x_range: Range;
  readonly y_range: Range;
  setPicture(blocks: Blocks, picture: StackPicture, lit: LitBlocks | undefined): void;
  /** Of the picture that is shown. */
  setLit(lit: LitBlocks | undefined): void;
  setPhases(spans: readonly PhaseSpan[], px_ns: number): void;
  setReserved(times_ns: readonly number[], reserved_bytes: readonly number[], end_ns: number): void;
  setSteps(ends_ns: ArrayLike<number>): void;
  setPeak(time_ns: number, bytes: number): void;
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

export function memoryFigure(bokeh: BokehNamespace, palette: MemoryPalette): MemoryFigure {
  const models = bokehModels(bokeh);
  const { Document } = bokeh.require("document") as {
    Document: typeof BokehDocument;
  };
  let colours = palette;
  const source = (...columns: string[]): Source =>
    new models.ColumnDataSource({
      data: Object.fromEntries(columns.map((column) => [column, []])),
    });
  const sources = {
    blocks: source("xs", "ys", "colour", "line", "line_alpha"),
    // One a kind, for one colour each.
    bands: MEMORY_KINDS.map(() => source("x", "bottom", "top")),
    total: source("x", "y"),
    reserved: source("x", "y"),
    phases: source("from", "to", "colour"),
    names: source("from", "colour", "name"),
    steps: source("x"),
    peak: source("x", "y", "name"),
    overview: source("x", "y"),
  };
  const x_range = new models.Range1d({ start: 0, end: 1 });
  const y_range = new models.Range1d({ start: 0, end: 1 });
  const whole_x = new models.Range1d({ start: 0, end: 1 });
  const whole_y = new models.Range1d({ start: 0, end: 1 });
  const unit_y = new models.Range1d({ start: 0, end: 1 });

  let views: Awaited<ReturnType<typeof bokeh.embed.add_document_standalone>> | undefined;
  const styled: ((palette: MemoryPalette) => void)[] = [];
  const plot = (x: Range, y: Range, margin: { top: number; bottom: number }) => {
    return new models.Plot({
      x_range: x,
      y_range: y,
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
      extra_y_ranges: { unit: unit_y },
    });
  };
  const main = plot(x_range, y_range, FRAME);
  const overview = plot(whole_x, whole_y, { top: 4, bottom: 4 });
  type Glyph = InstanceType<typeof models.Glyph>;
  const renderersOf = new Map<Source, InstanceType<typeof models.GlyphRenderer>[]>();
  /** What has nothing to draw still costs its part of every frame, unless it is hidden. */
  const fill = (data_source: Source, data: Record<string, unknown[]>): void => {
    const isEmpty = !Object.values(data)[0]?.length;
    const renderers = renderersOf.get(data_source) ?? [];
    if (!isEmpty || renderers.some(({ visible }) => visible)) {
      data_source.data = data;
      for (const renderer of renderers) {
        renderer.visible = !isEmpty;
      }
    }
  };
  const draw = (
    figure: typeof main,
    data_source: Source,
    glyph: Glyph,
    options: { y_range_name?: string; level?: "underlay" | "glyph" | "annotation" } = {},
  ): void => {
    const renderer = new models.GlyphRenderer({
      data_source,
      glyph,
      // Nothing is selected in Bokeh's own way: it would dim the rest.
      nonselection_glyph: null,
      visible: false,
      ...options,
    });
    figure.renderers = [...figure.renderers, renderer];
    const rendered = renderersOf.get(data_source) ?? [];
    renderersOf.set(data_source, [...rendered, renderer]);
  };

  const phaseGlyph = {
    left: { field: "from" },
    right: { field: "to" },
    bottom: 0,
    top: 1,
    fill_color: { field: "colour" },
    fill_alpha: 0.07,
    line_color: null,
  };
  draw(main, sources.phases, new models.Quad(phaseGlyph), {
    y_range_name: "unit",
    level: "underlay",
  });
  const phaseNames = new models.Text({
    x: { field: "from" },
    y: 1,
    x_offset: 5,
    y_offset: 3,
    text: { field: "name" },
    text_baseline: "top",
    text_font_size: "11px",
    text_color: { field: "colour" },
  });
  const bands = MEMORY_KINDS.map((_, kind) => {
    const glyph = new models.VArea({
      x: { field: "x" },
      y1: { field: "bottom" },
      y2: { field: "top" },
      fill_alpha: BAND_ALPHA,
    });
    styled.push(({ kinds }) => {
      glyph.fill_color = kinds[kind]!;
    });
    draw(main, sources.bands[kind]!, glyph);
    return glyph;
  });
  draw(
    main,
    sources.blocks,
    new models.Patches({
      xs: { field: "xs" },
      ys: { field: "ys" },
      fill_color: { field: "colour" },
      line_color: { field: "line" },
      line_alpha: { field: "line_alpha" },
      line_width: 1,
    }),
  );
  const total = new models.Step({
    x: { field: "x" },
    y: { field: "y" },
    mode: "after",
    line_width: 1.25,
  });
  draw(main, sources.total, total);
  const reserved = new models.Step({
    x: { field: "x" },
    y: { field: "y" },
    mode: "after",
    line_width: 1.25,
    line_dash: [6, 4],
  });
  draw(main, sources.reserved, reserved);
  const steps = new models.VSpan({ x: { field: "x" }, line_width: 1, line_dash: [2, 3] });
  draw(main, sources.steps, steps);
  // What is on the overlay's level is drawn beyond the frame too.
  draw(main, sources.names, phaseNames, { y_range_name: "unit", level: "annotation" });
  const peak = new models.Text({
    x: { field: "x" },
    y: { field: "y" },
    text: { field: "name" },
    text_align: "center",
    text_baseline: "bottom",
    text_font_size: "9px",
  });
  draw(main, sources.peak, peak, { level: "annotation" });
  const total_overview = new models.VArea({
    x: { field: "x" },
    y1: 0,
    y2: { field: "y" },
    fill_alpha: 0.35,
  });
  draw(overview, sources.overview, total_overview);

  const span = new models.BoxAnnotation({
    left: 0,
    right: 0,
    fill_alpha: 0.12,
    line_alpha: 0.9,
    line_width: 1.5,
    level: "overlay",
  });
  main.renderers = [...main.renderers, span];
  const windowBox = new models.BoxAnnotation({
    fill_alpha: 0.05,
    line_alpha: 0.7,
    line_width: 1,
    editable: true,
  });
  overview.toolbar.tools = [
    new models.RangeTool({ x_range, overlay: windowBox, start_gesture: "pan" }),
  ];

  for (const [side, axis, grid] of memoryAxes(models)) {
    main[side] = [axis];
    main.center = [...main.center, grid];
    styled.push(({ soft, line, font }) => {
      axis.major_label_text_color = soft;
      axis.major_label_text_font = font;
      axis.major_tick_line_color = line;
      grid.grid_line_color = line;
    });
  }
  styled.push(({ ink, soft, select, forward, font }) => {
    total.line_color = ink;
    reserved.line_color = soft;
    steps.line_color = soft;
    peak.text_color = ink;
    total_overview.fill_color = soft;
    span.fill_color = select;
    span.line_color = select;
    windowBox.fill_color = forward;
    windowBox.line_color = forward;
    phaseNames.text_font = font;
  });

  const page = new Document();
  let shown: Parameters<MemoryFigure["setPicture"]> | undefined;
  let shownBlocks: readonly number[] = [];
  let phases: readonly [spans: readonly PhaseSpan[], px_ns: number] = [[], 1];
  const figure: MemoryFigure = {
    x_range,
    y_range,
    setPicture(blocks, picture, lit) {
      shown = [blocks, picture, lit];
      const { blocks: outlined, xs, ys } = blockOutlines(blocks, picture);
      shownBlocks = outlined;
      fill(sources.blocks, {
        xs,
        ys,
        ...blockColours(blocks, outlined, picture.window, lit, colours),
      });
      const top = Array.from(picture.band_bottom_bytes);
      const x = Array.from(picture.band_ns);
      picture.band_bytes.forEach((bytes, kind) => {
        bands[kind]!.fill_alpha = lit ? FADED_BAND_ALPHA : BAND_ALPHA;
        if (!bytes.some((size) => size > 0)) {
          fill(sources.bands[kind]!, {});
          return;
        }
        const bottom = top.slice();
        bytes.forEach((size, at) => {
          top[at]! += size;
        });
        fill(sources.bands[kind]!, {
          x: corners(x).slice(1),
          bottom: corners(bottom).slice(0, -1),
          top: corners(top).slice(0, -1),
        });
      });
      fill(sources.total, { x, y: top });
      // Where it goes up and down with every pixel, a line would be all there is to see.
      total.line_alpha = Math.max(0, Math.min(1, 1.6 - (2.5 * x.length) / picture.window.width_px));
    },
    setLit(lit) {
      if (!shown) {
        return;
      }
      const [blocks, picture] = shown;
      shown = [blocks, picture, lit];
      for (const band of bands) {
        band.fill_alpha = lit ? FADED_BAND_ALPHA : BAND_ALPHA;
      }
      fill(sources.blocks, {
        ...(sources.blocks.data as Record<string, unknown[]>),
        ...blockColours(blocks, shownBlocks, picture.window, lit, colours),
      });
    },
    setPhases(spans, px_ns) {
      phases = [spans, px_ns];
      fill(sources.phases, {
        from: spans.map((at) => at.from_ns),
        to: spans.map((at) => at.to_ns),
        colour: spans.map((at) => colours[PHASES[at.phase]!]),
      });
      const named = spans.filter(
        ({ phase, from_ns, to_ns }) =>
          (to_ns - from_ns) / px_ns > PHASES[phase]!.length * LETTER_PX + 10,
      );
      fill(sources.names, {
        from: named.map((at) => at.from_ns),
        colour: named.map((at) => colours[PHASES[at.phase]!]),
        name: named.map((at) => PHASES[at.phase]!),
      });
    },
    setReserved(times_ns, reserved_bytes, end_ns) {
      const last = reserved_bytes.at(-1);
      fill(
        sources.reserved,
        last === undefined ? {} : { x: [...times_ns, end_ns], y: [...reserved_bytes, last] },
      );
    },
    setSteps(ends_ns) {
      fill(sources.steps, { x: Array.from(ends_ns) });
    },
    setPeak(time_ns, bytes) {
      fill(sources.peak, { x: [time_ns], y: [bytes], name: ["▼"] });
    },
    setMoment(from_ns, to_ns) {
      span.setv({ left: from_ns, right: to_ns });
    },
    setOverview(times_ns, total_bytes) {
      const y = Array.from(total_bytes);
      whole_x.setv({ start: times_ns[0]!, end: times_ns.at(-1)! });
      whole_y.setv({ start: 0, end: Math.max(1, ...y) * 1.05 });
      fill(sources.overview, {
        x: corners(Array.from(times_ns)).slice(1),
        y: corners(y).slice(0, -1),
      });
    },
    setTheme(changed) {
      colours = changed;
      for (const style of styled) {
        style(changed);
      }
      figure.setPhases(...phases);
      if (shown) {
        figure.setPicture(...shown);
      }
    },
    async mount(roots) {
      // It would tell the console how long it took.
      bokeh.logger.set_level("warn");
      page.add_root(main);
      page.add_root(overview);
      views = await bokeh.embed.add_document_standalone(page, roots.main, [
        roots.main,
        roots.overview,
      ]);
    },
    canvases: () =>
      [main, overview].flatMap((plot) => {
        const view = views?.find_one(plot) as PlotView | null | undefined;
        return view ? [view.export("png").canvas] : [];
      }),
    dispose: () => page.clear(),
  };
  figure.setTheme(palette);
  return figure;
}

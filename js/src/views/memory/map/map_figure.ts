/** The map's figure, drawn by Bokeh: rows of blocks by address. */
import { type CarriedBokeh, carriedModels } from "../../../charts/bokeh_loader.ts";
import { mountFigure } from "../../../charts/mount_figure.ts";
import type { BlockMap } from "../../../memory/map/block_map.ts";

/** Room on the left and right of the frame. */
export const MAP_SIDE_PX = 10;

const COLUMNS = ["from", "to", "bottom", "top", "colour", "line"];

/** Colours of a piece of the map; a block that is -1 is free memory. */
export interface PieceColours {
  fill(block: number): string;
  line(block: number): string;
}

export interface MapFigure {
  show(map: BlockMap, colours: PieceColours): void;
  dispose(): void;
}

/** Draw an empty map in `host`. */
export async function mountMap(bokeh: CarriedBokeh, host: HTMLElement): Promise<MapFigure> {
  const models = carriedModels(bokeh);
  const source = new models.ColumnDataSource({
    data: Object.fromEntries(COLUMNS.map((column) => [column, []])),
  });
  const x_range = new models.Range1d({ start: 0, end: 1 });
  const y_range = new models.Range1d({ start: 1, end: 0 });
  const plot = new models.Plot({
    x_range,
    y_range,
    sizing_mode: "stretch_both",
    min_border: 0,
    min_border_left: MAP_SIDE_PX,
    min_border_right: MAP_SIDE_PX,
    toolbar_location: null,
    outline_line_color: null,
    background_fill_color: null,
    border_fill_color: null,
  });
  const quad = new models.Quad({
    left: { field: "from" },
    right: { field: "to" },
    bottom: { field: "bottom" },
    top: { field: "top" },
    fill_color: { field: "colour" },
    line_color: { field: "line" },
    line_width: 1,
  });
  plot.renderers = [
    new models.GlyphRenderer({ data_source: source, glyph: quad, nonselection_glyph: null }),
  ];
  const mounted = await mountFigure(bokeh, plot, host);
  return {
    show(map, colours) {
      x_range.setv({ start: 0, end: map.row_bytes });
      y_range.setv({ start: map.rowCount, end: 0 });
      source.data = {
        from: Array.from(map.from_bytes),
        to: Array.from(map.to_bytes),
        bottom: Array.from(map.rows, (row) => row + 0.92),
        top: Array.from(map.rows, (row) => row + 0.08),
        colour: Array.from(map.blocks, (block) => colours.fill(block)),
        line: Array.from(map.blocks, (block) => colours.line(block)),
      };
    },
    dispose: mounted.dispose,
  };
}

/** Glyphs of a figure with their data; what has nothing to draw is hidden. */
import type { Glyph } from "@bokeh/bokehjs/build/js/lib/models/glyphs/glyph";
import type { CarriedModels } from "../../../charts/bokeh_loader.ts";

export type Plot = InstanceType<CarriedModels["Plot"]>;

export interface Layer {
  fill(data: Record<string, unknown[]>): void;
}

/**
 * Add a glyph to a figure, without data yet.
 *
 * @param columns the names of its data
 */
export function addLayer(
  models: CarriedModels,
  figure: Plot,
  columns: readonly string[],
  glyph: Glyph,
  options: { y_range_name?: string; level?: "underlay" | "glyph" | "annotation" } = {},
): Layer {
  const data_source = new models.ColumnDataSource({
    data: Object.fromEntries(columns.map((column) => [column, []])),
  });
  const renderer = new models.GlyphRenderer({
    data_source,
    glyph,
    // Nothing is selected in Bokeh's own way: it would dim the rest.
    nonselection_glyph: null,
    visible: false,
    ...options,
  });
  figure.renderers = [...figure.renderers, renderer];
  return {
    fill(data) {
      // What has nothing to draw still costs its part of every frame, unless it is hidden.
      const isEmpty = !Object.values(data)[0]?.length;
      if (!isEmpty || renderer.visible) {
        data_source.data = data;
        renderer.visible = !isEmpty;
      }
    },
  };
}

/**
 * Each value twice: from these, all times but the first and all heights but the last are the corners
 * of steps. (Bokeh 3.9's VAreaStep makes them itself, and never ends where there are none.)
 */
export function corners(values: readonly number[]): number[] {
  return values.flatMap((value) => [value, value]);
}

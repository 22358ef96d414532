/** Axes whose ticks are round in bytes: 256 KiB, 1.5 GiB. */
import { formatBytes } from "../words/quantities.ts";
import type { BokehModels } from "./bokeh_loader.ts";

/** A ticker and a formatter for an axis of bytes. */
export function byteTicks(models: BokehModels, desired_num_ticks = 5) {
  // Bokeh's usual way to write a formatter compiles text, which pages may forbid.
  class ByteFormatter extends models.TickFormatter {
    static override __name__ = "ByteFormatter";
    override doFormat(ticks: string[] | number[]): string[] {
      return ticks.map((tick) => (Number(tick) < 0 ? "" : formatBytes(Math.round(Number(tick)))));
    }
  }
  const mantissas = Array.from({ length: 10 }, (_, power) => 2 ** power);
  return {
    ticker: new models.AdaptiveTicker({ base: 1024, mantissas, desired_num_ticks }),
    formatter: new ByteFormatter(),
  };
}

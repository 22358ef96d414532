/** The recorded histograms of gradients and of outputs. */

import { RowsByKey } from "../../trace/csr.ts";
import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";

/** How many values have a magnitude in [2^exponent, 2^(exponent + 1)), by sign. */
export interface HistogramBin {
  readonly exponent: number;
  negative: number;
  positive: number;
}

/** The histogram of a row of `grad_stats` or `value_stats`, by ascending exponent, without gaps. */
export function histogramOf(trace: Trace, of: "grad" | "value", row: number): HistogramBin[] {
  const table = trace.table(`${of}_histograms`);
  const stat =
    of === "grad"
      ? trace.table("grad_histograms").column("grad_stat")
      : trace.table("value_histograms").column("value_stat");
  const rows = kept(trace, `bins of each ${of}`, () =>
    RowsByKey.index(stat, trace.table(`${of}_stats`).length),
  ).of(row);
  const exponents = Array.from(rows, (bin) => table.column("exponent")[bin]!);
  if (!exponents.length) return [];
  const least = Math.min(...exponents);
  // float32 has 277 powers of two, float64 about 2,100. A file with more is damaged.
  const length = Math.min(2200, Math.max(...exponents) - least + 1);
  const bins = Array.from({ length }, (_, at) => ({
    exponent: least + at,
    negative: 0,
    positive: 0,
  }));
  for (const bin of rows) {
    const at = bins[table.column("exponent")[bin]! - least];
    const sign = table.column("is_negative")[bin] ? "negative" : "positive";
    if (at) at[sign] += table.column("count")[bin]!;
  }
  return bins;
}

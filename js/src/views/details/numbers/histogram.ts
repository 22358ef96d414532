/** A histogram of values by powers of two: negative, zero, positive. */

import { element } from "../../../dom/element.ts";
import { svgElement } from "../../../dom/svg_element.ts";
import type { HistogramBin } from "../../../model/gradients/histogram.ts";
import { t } from "../../../words/page.ts";
import { formatCount, formatShare } from "../../../words/quantities.ts";

const WIDTH_PX = 320;
const HEIGHT_PX = 118;
const TOP_PX = 14;
const BASE_PX = 88;
const SIDE_PX = 4;
/** Gap between the three parts. */
const GAP_PX = 7;
const ZERO_PX = 14;
/** The most bars on a side; with more, neighbours are merged. */
const MOST_BARS = 32;
const LEAST_BAR_PX = 1.5;
/** The largest width of a bar, so that a few bars stay close to zero. */
const WIDEST_BAR_PX = 22;

interface Bar {
  /** Values are in [2^from, 2^to). */
  readonly from: number;
  readonly to: number;
  readonly negative: number;
  readonly positive: number;
}

export interface Counts {
  readonly bins: readonly HistogramBin[];
  /** How many values are zero. */
  readonly zeros: number;
}

/** @param beside other values, which are drawn as outlines over the bars */
export function histogram(shown: Counts, beside?: Counts): HTMLElement {
  const { zeros } = shown;
  const all = [...shown.bins, ...(beside?.bins ?? [])].map((bin) => bin.exponent);
  const span = [Math.min(...all), Math.max(...all)] as const;
  const bars = together(widened(shown.bins, span));
  const outlines = beside ? together(widened(beside.bins, span)) : [];
  const most = Math.max(
    1,
    zeros,
    beside?.zeros ?? 0,
    ...[...bars, ...outlines].flatMap((bar) => [bar.negative, bar.positive]),
  );
  const total = zeros + bars.reduce((sum, bar) => sum + bar.negative + bar.positive, 0);
  const half = (WIDTH_PX - 2 * SIDE_PX - ZERO_PX - 2 * GAP_PX) / 2;
  const step = Math.min(WIDEST_BAR_PX, half / Math.max(1, bars.length));
  const used = step * bars.length;
  const zeroLeft = SIDE_PX + half + GAP_PX;
  const positiveLeft = zeroLeft + ZERO_PX + GAP_PX;
  const column = (left: number, width: number, count: number, title: string, kind: string) => {
    const height = count ? Math.max(LEAST_BAR_PX, ((BASE_PX - TOP_PX) * count) / most) : 0;
    return svgElement(
      "rect",
      { class: `pdl-bar pdl-bar-${kind}`, x: left, y: BASE_PX - height, width, height },
      svgElement("title", {}, t("histogram.bar", { name: title, n: count })),
    );
  };
  const sides = (of: readonly Bar[], zero: number, kind: string) => [
    ...of.flatMap((at, index) => [
      column(
        SIDE_PX + half - (index + 1) * step,
        bar,
        at.negative,
        negativeRange(at),
        `negative${kind}`,
      ),
      column(positiveLeft + index * step, bar, at.positive, positiveRange(at), `positive${kind}`),
    ]),
    column(zeroLeft, ZERO_PX, zero, t("histogram.zero"), `zero${kind}`),
  ];
  const label = (x: number, y: number, text: string, anchor = "middle") =>
    svgElement("text", { x, y, "text-anchor": anchor }, text);
  const bar = Math.max(0.5, step - Math.min(1, step * 0.15));
  const first = bars[0];
  const last = bars.at(-1);
  // At the picture's edge, outer labels extend inwards; else outwards, away from inner labels.
  const outer = used > half - 20 ? (["start", "end"] as const) : (["end", "start"] as const);
  const ends =
    first && last
      ? [
          label(SIDE_PX + half - used, BASE_PX + 13, `−${power(last.to)}`, outer[0]),
          label(SIDE_PX + half, BASE_PX + 13, `−${power(first.from)}`, "end"),
          label(positiveLeft, BASE_PX + 13, power(first.from), "start"),
          label(positiveLeft + used, BASE_PX + 13, power(last.to), outer[1]),
        ]
      : [];
  const picture = svgElement(
    "svg",
    {
      class: "pdl-chart",
      viewBox: `0 0 ${WIDTH_PX} ${HEIGHT_PX}`,
      role: "img",
      "aria-label": t("histogram.label"),
    },
    svgElement("line", {
      class: "pdl-grid",
      x1: SIDE_PX,
      x2: WIDTH_PX - SIDE_PX,
      y1: TOP_PX,
      y2: TOP_PX,
    }),
    label(SIDE_PX, TOP_PX - 4, t("histogram.values", { n: most }), "start"),
    ...sides(bars, zeros, ""),
    ...(beside ? sides(outlines, beside.zeros, " pdl-bar-beside") : []),
    svgElement("line", {
      class: "pdl-axis",
      x1: SIDE_PX,
      x2: WIDTH_PX - SIDE_PX,
      y1: BASE_PX,
      y2: BASE_PX,
    }),
    ...ends,
    label(zeroLeft + ZERO_PX / 2, BASE_PX + 13, "0"),
    label(SIDE_PX + half / 2, BASE_PX + 27, t("histogram.negative")),
    label(positiveLeft + half / 2, BASE_PX + 27, t("histogram.positive")),
  );
  return element("div", { class: "pdl-figure" }, picture, table(bars, zeros, total));
}

function table(bars: readonly Bar[], zeros: number, total: number): HTMLElement {
  const row = (range: string, count: number) =>
    element(
      "tr",
      {},
      element("td", {}, range),
      element("td", {}, formatCount(count)),
      element("td", {}, formatShare(count, total)),
    );
  const rows = [
    ...bars
      .toReversed()
      .filter((at) => at.negative)
      .map((at) => row(negativeRange(at), at.negative)),
    row("0", zeros),
    ...bars.filter((at) => at.positive).map((at) => row(positiveRange(at), at.positive)),
  ];
  const head = (["column_values", "column_count", "column_share"] as const).map((name) =>
    element("th", { scope: "col" }, t(`histogram.${name}`)),
  );
  return element(
    "details",
    {},
    element("summary", {}, t("histogram.as_table")),
    element(
      "table",
      { class: "pdl-table" },
      element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...rows),
    ),
  );
}

function negativeRange({ from, to }: Bar): string {
  return t("histogram.range", { from: `−${power(to)}`, to: `−${power(from)}` });
}

function positiveRange({ from, to }: Bar): string {
  return t("histogram.range", { from: power(from), to: power(to) });
}

/** The bins with empty ones before and after, from the first to the last exponent of `span`. */
function widened(bins: readonly HistogramBin[], [first, last]: readonly [number, number]) {
  const known = new Map(bins.map((bin) => [bin.exponent, bin]));
  const length = Number.isFinite(first) ? last - first + 1 : 0;
  return Array.from({ length }, (_, at) => {
    const exponent = first + at;
    return known.get(exponent) ?? { exponent, negative: 0, positive: 0 };
  });
}

/** Merge neighbouring powers of two if there would be more than `MOST_BARS` bars. */
function together(bins: readonly HistogramBin[]): Bar[] {
  const each = Math.ceil(bins.length / MOST_BARS);
  const bars: Bar[] = [];
  for (let at = 0; at < bins.length; at += each) {
    const part = bins.slice(at, at + each);
    bars.push({
      from: part[0]!.exponent,
      to: part[0]!.exponent + each,
      negative: part.reduce((sum, bin) => sum + bin.negative, 0),
      positive: part.reduce((sum, bin) => sum + bin.positive, 0),
    });
  }
  return bars;
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** "2⁻¹²". */
function power(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => RAISED[Number(digit)]).join("");
  return `2${exponent < 0 ? "⁻" : ""}${digits}`;
}

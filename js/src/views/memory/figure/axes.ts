/** Axes of the timeline: bytes upwards, time to the right. */
import type { CarriedModels } from "../../../charts/bokeh_loader.ts";
import { byteTicks } from "../../../charts/byte_axis.ts";

type Axis = InstanceType<CarriedModels["LinearAxis"]>;
type NoOverlap = InstanceType<CarriedModels["NoOverlap"]>;
type Grid = InstanceType<CarriedModels["Grid"]>;

/** Between times: less looks like one number. */
const LABEL_GAP_PX = 12;

/**
 * Each with its side of the figure and its grid; they have no colours yet.
 *
 * @param width_px of the figure, once it is laid out
 */
export function memoryAxes(
  models: CarriedModels,
  width_px: () => number | null,
): readonly (readonly [side: "below" | "left", axis: Axis, grid: Grid])[] {
  class TimeFormatter extends models.TickFormatter {
    static override __name__ = "TimeFormatter";
    override doFormat(ticks: string[] | number[]): string[] {
      return timeTicks(ticks.map(Number));
    }
  }
  class LabelsInside extends models.NoOverlap {
    static override __name__ = "LabelsInside";
    // Bokeh would push the last one inside, into its neighbour.
    override filter(...[labels, places, distance]: Parameters<NoOverlap["filter"]>) {
      for (const at of labels) {
        if (places[at]!.right > (width_px() ?? Infinity)) {
          labels.unset(at);
        }
      }
      return super.filter(labels, places, distance);
    }
  }
  const look = {
    axis_line_color: null,
    minor_tick_line_color: null,
    major_tick_in: 0,
    major_label_text_font_size: "11px",
    major_label_standoff: 5,
  };
  // A small view has no room for all labels.
  const time = new models.LinearAxis({
    ...look,
    ticker: new models.BasicTicker({ desired_num_ticks: 6 }),
    formatter: new TimeFormatter(),
    major_label_policy: new LabelsInside({ min_distance: LABEL_GAP_PX }),
    major_tick_out: 4,
  });
  const bytes = new models.LinearAxis({
    ...look,
    ...byteTicks(models),
    major_label_policy: new models.NoOverlap({ min_distance: 1 }),
    major_tick_out: 0,
  });
  return [
    ["below", time, new models.Grid({ axis: time, dimension: 0, visible: false })],
    ["left", bytes, new models.Grid({ axis: bytes, dimension: 1, level: "underlay" })],
  ];
}

/** "12.5 ms", all in one unit, with as many digits as neighbouring ticks differ in. */
function timeTicks(ticks_ns: readonly number[]): string[] {
  const largest_ns = Math.max(...ticks_ns.map(Math.abs));
  const step_ns = ticks_ns.length > 1 ? Math.abs(ticks_ns[1]! - ticks_ns[0]!) : largest_ns;
  const [unit_ns, unit] = UNITS.find(([size_ns]) => largest_ns >= size_ns) ?? [1, "ns"];
  const digits = Math.max(0, Math.ceil(-Math.log10(step_ns / unit_ns) - 1e-9));
  return ticks_ns.map((time_ns) =>
    time_ns === 0 ? "0" : `${(time_ns / unit_ns).toFixed(Math.min(9, digits))} ${unit}`,
  );
}

const UNITS: readonly (readonly [size_ns: number, name: string])[] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];

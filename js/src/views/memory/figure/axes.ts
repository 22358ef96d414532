/** Axes of the timeline: bytes upwards, time to the right. */
import { formatBytes } from "../../../words/quantities.ts";
import type { Frame, Places } from "./frame.ts";
import type { MemoryPalette } from "./palette.ts";

const FONT_PX = 11;
/** Gap between a label and the frame. */
const STANDOFF_PX = 5;
/** The gap between two times. With a smaller gap they would look like one number. */
const LABEL_GAP_PX = 12;
const TICK_PX = 4;
const BYTE_TICKS = 5;
const TIME_TICKS = 6;

/** @param base_bytes labels above it say how much is added to it */
export function paintAxes(
  context: CanvasRenderingContext2D,
  frame: Frame,
  { x, y }: Places,
  { line, soft, font }: MemoryPalette,
  base_bytes: number,
): void {
  const { left_px, top_px, width_px, height_px } = frame;
  const bottom_px = top_px + height_px;
  context.save();
  context.font = `${FONT_PX}px ${font}`;
  context.fillStyle = soft;
  context.strokeStyle = line;
  context.lineWidth = 1;
  context.beginPath();
  context.textAlign = "right";
  context.textBaseline = "middle";
  let last_px = Infinity;
  for (const above of byteTicks(frame.from_bytes - base_bytes, frame.to_bytes - base_bytes)) {
    const at_px = y(base_bytes + above);
    context.moveTo(left_px, at_px);
    context.lineTo(left_px + width_px, at_px);
    if (last_px - at_px > FONT_PX) {
      const isAdded = base_bytes > 0 && above > 0;
      const label = isAdded ? `+${formatBytes(above)}` : formatBytes(base_bytes + above);
      context.fillText(label, left_px - STANDOFF_PX, at_px);
      last_px = at_px;
    }
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  let right_px = 0;
  for (const [time_ns, label] of timeTicks(frame.from_ns, frame.to_ns)) {
    const at_px = x(time_ns);
    context.moveTo(at_px, bottom_px);
    context.lineTo(at_px, bottom_px + TICK_PX);
    const half_px = context.measureText(label).width / 2;
    const isInside = at_px + half_px <= context.canvas.clientWidth;
    if (isInside && at_px - half_px > right_px + LABEL_GAP_PX) {
      context.fillText(label, at_px, bottom_px + TICK_PX + STANDOFF_PX);
      right_px = at_px + half_px;
    }
  }
  context.stroke();
  context.restore();
}

/** Ticks at multiples of a power of two, such as 256 KiB or 1.5 GiB. */
function byteTicks(from_bytes: number, to_bytes: number): number[] {
  const step = 2 ** Math.max(0, Math.round(Math.log2((to_bytes - from_bytes) / BYTE_TICKS)));
  return multiples(step, from_bytes, to_bytes);
}

/** Times with labels such as "12.5 ms": all in one unit, with enough digits to differ. */
function timeTicks(from_ns: number, to_ns: number): [time_ns: number, label: string][] {
  const least_ns = (to_ns - from_ns) / TIME_TICKS;
  const decade = 10 ** Math.floor(Math.log10(least_ns));
  const step_ns = [1, 2, 5, 10].map((by) => by * decade).find((step) => step >= least_ns)!;
  const ticks_ns = multiples(step_ns, from_ns, to_ns);
  const largest_ns = ticks_ns.at(-1) ?? 0;
  const [unit_ns, unit] = UNITS.find(([size_ns]) => largest_ns >= size_ns) ?? [1, "ns"];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step_ns / unit_ns) - 1e-9)));
  return ticks_ns.map((time_ns) => [
    time_ns,
    time_ns === 0 ? "0" : `${(time_ns / unit_ns).toFixed(digits)} ${unit}`,
  ]);
}

const UNITS: readonly (readonly [size_ns: number, name: string])[] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];

function multiples(step: number, from: number, to: number): number[] {
  const [first, last] = [Math.ceil(from / step), Math.floor(to / step)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * step);
}

/** The whole run in small, and a window over the shown part that can be dragged. */
import { type Frame, MARGINS, placesIn } from "./frame.ts";
import type { MemoryPalette } from "./palette.ts";

const AREA_ALPHA = 0.35;
const MARGIN_PX = 4;
/** A press within this distance of an edge of the window moves that edge. */
const EDGE_PX = 5;

interface Span {
  readonly from_ns: number;
  readonly to_ns: number;
}

/** The highest total of the run in each column. All columns have equal width. */
export interface Totals {
  readonly times_ns: Float64Array;
  readonly total_bytes: Float64Array;
}

export function paintOverview(
  context: CanvasRenderingContext2D,
  size: { width_px: number; height_px: number },
  { times_ns, total_bytes }: Totals,
  shown: Span,
  { soft, forward }: MemoryPalette,
): void {
  const frame: Frame = {
    left_px: MARGINS.left,
    top_px: MARGIN_PX,
    width_px: size.width_px - MARGINS.left - MARGINS.right,
    height_px: size.height_px - 2 * MARGIN_PX,
    from_ns: times_ns[0]!,
    to_ns: times_ns.at(-1)!,
    from_bytes: 0,
    to_bytes: 1.05 * total_bytes.reduce((most, bytes) => Math.max(most, bytes), 1),
  };
  const { x, y } = placesIn(frame);
  context.globalAlpha = AREA_ALPHA;
  context.fillStyle = soft;
  context.beginPath();
  context.moveTo(x(frame.from_ns), y(0));
  total_bytes.forEach((bytes, at) => {
    context.lineTo(x(times_ns[at]!), y(bytes));
    context.lineTo(x(times_ns[at + 1] ?? frame.to_ns), y(bytes));
  });
  context.lineTo(x(frame.to_ns), y(0));
  context.fill();
  const [left_px, right_px] = [x(shown.from_ns), x(shown.to_ns)];
  const box = [left_px, frame.top_px, right_px - left_px, frame.height_px] as const;
  context.fillStyle = context.strokeStyle = forward;
  context.globalAlpha = 0.05;
  context.fillRect(...box);
  context.globalAlpha = 0.7;
  context.strokeRect(...box);
}

/**
 * A drag moves the window or one of its edges. Elsewhere, or if the window shows the whole run,
 * a drag makes a new window.
 *
 * @param whole returns the span of the run
 */
export function listenToOverview(
  canvas: HTMLCanvasElement,
  whole: () => Span,
  shown: () => Span,
  show: (from_ns: number, to_ns: number) => void,
): void {
  const pixel_ns = (): number => {
    const { from_ns, to_ns } = whole();
    return (to_ns - from_ns) / (canvas.clientWidth - MARGINS.left - MARGINS.right);
  };
  const timeAt = (event: PointerEvent): number => {
    const { left } = canvas.getBoundingClientRect();
    return whole().from_ns + (event.clientX - left - MARGINS.left) * pixel_ns();
  };
  const between = (one_ns: number, other_ns: number): void =>
    show(Math.min(one_ns, other_ns), Math.max(one_ns, other_ns));
  canvas.addEventListener("pointerdown", (event) => {
    const { from_ns, to_ns } = shown();
    const at_ns = timeAt(event);
    const isNear = (edge_ns: number): boolean => Math.abs(at_ns - edge_ns) < EDGE_PX * pixel_ns();
    const isInside = from_ns < at_ns && at_ns < to_ns;
    const isWhole = to_ns - from_ns >= whole().to_ns - whole().from_ns;
    const drag = (moved: PointerEvent): void => {
      const now_ns = timeAt(moved);
      if (isWhole) between(at_ns, now_ns);
      else if (isNear(from_ns)) between(now_ns, to_ns);
      else if (isNear(to_ns)) between(from_ns, now_ns);
      else if (isInside) show(from_ns + now_ns - at_ns, to_ns + now_ns - at_ns);
      else between(at_ns, now_ns);
    };
    canvas.setPointerCapture(event.pointerId);
    canvas.addEventListener("pointermove", drag);
    const end = (): void => canvas.removeEventListener("pointermove", drag);
    canvas.addEventListener("lostpointercapture", end, { once: true });
  });
}

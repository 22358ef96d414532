/** Marks on the stack of blocks: phases, ends of steps, reserved memory, the peak. */

import { reservedSteps, stepEnds } from "../../../memory/blocks/marks.ts";
import { type PhaseSpan, phaseSpans } from "../../../memory/blocks/phases.ts";
import type { MemoryState } from "../../../memory/memory_state.ts";
import type { Window } from "../../../memory/stack/stack_window.ts";
import { PHASES } from "../../../trace/protocol.ts";
import { t } from "../../../words/page.ts";
import type { Frame, Places } from "./frame.ts";
import type { MemoryPalette } from "./palette.ts";

const TINT_ALPHA = 0.07;
const FONT_PX = 11;
/** Offset of a phase's name from the start of its span, and from the top of the frame. */
const [NAME_LEFT_PX, NAME_TOP_PX] = [5, 3];
/** How far the background of a name extends beyond its letters. */
const GROUND_PX = 2;
const GROUND_ALPHA = 0.8;
/** Gap between a name and the middle of the peak's mark. */
const PEAK_ROOM_PX = 8;

export interface Marks {
  readonly phases: readonly PhaseSpan[];
  readonly stepEnds_ns: ArrayLike<number>;
  /** A step function, up to the end of the run. */
  readonly reserved: { readonly times_ns: readonly number[]; readonly bytes: readonly number[] };
  readonly end_ns: number;
  readonly peak: { readonly time_ns: number; readonly bytes: number };
}

type Context = CanvasRenderingContext2D;

/** Draw the background of each phase, behind the blocks. */
export function paintTints(
  context: Context,
  frame: Frame,
  places: Places,
  { phases }: Marks,
  palette: MemoryPalette,
): void {
  context.globalAlpha = TINT_ALPHA;
  for (const { phase, left_px, right_px } of spansIn(phases, frame, places)) {
    context.fillStyle = palette[phase];
    context.fillRect(left_px, frame.top_px, right_px - left_px, frame.height_px);
  }
}

/** Over the blocks: reserved memory, and the ends of steps. */
export function paintLines(
  context: Context,
  frame: Frame,
  { x, y }: Places,
  { reserved, stepEnds_ns, end_ns }: Marks,
  { soft }: MemoryPalette,
): void {
  context.strokeStyle = soft;
  context.lineWidth = 1.25;
  context.setLineDash([6, 4]);
  context.beginPath();
  reserved.times_ns.forEach((time_ns, at) => {
    context.lineTo(x(time_ns), y(reserved.bytes[at]!));
    context.lineTo(x(reserved.times_ns[at + 1] ?? end_ns), y(reserved.bytes[at]!));
  });
  context.stroke();
  context.lineWidth = 1;
  context.setLineDash([2, 3]);
  context.beginPath();
  for (const time_ns of Array.from(stepEnds_ns)) {
    context.moveTo(x(time_ns), frame.top_px);
    context.lineTo(x(time_ns), frame.top_px + frame.height_px);
  }
  context.stroke();
}

/** The names of phases and the sign of the peak, which are drawn above everything else. */
export function paintNames(
  context: Context,
  frame: Frame,
  places: Places,
  { phases, peak }: Marks,
  palette: MemoryPalette,
): void {
  context.font = `${FONT_PX}px ${palette.font}`;
  context.textBaseline = "top";
  const peak_px = places.x(peak.time_ns);
  for (const { phase, left_px, right_px } of spansIn(phases, frame, places)) {
    const name = t(`phase.${phase}`);
    const { width } = context.measureText(name);
    const begin_px = left_px + NAME_LEFT_PX;
    // Names keep clear of the peak's sign, which may be in the same row.
    const isHit = Math.abs(peak_px - (begin_px + width / 2)) < width / 2 + PEAK_ROOM_PX;
    const x = isHit ? peak_px + PEAK_ROOM_PX : begin_px;
    const y = frame.top_px + NAME_TOP_PX;
    if (x + width + NAME_LEFT_PX <= right_px) {
      // A background behind the name keeps it readable on blocks.
      context.globalAlpha = GROUND_ALPHA;
      context.fillStyle = palette.bg;
      context.fillRect(x - GROUND_PX, y - 1, width + 2 * GROUND_PX, FONT_PX + 2);
      context.globalAlpha = 1;
      context.fillStyle = palette[phase];
      context.fillText(name, x, y);
    }
  }
  if (peak.time_ns >= frame.from_ns && peak.time_ns <= frame.to_ns) {
    context.font = `9px helvetica, ${palette.font}`;
    context.textAlign = "center";
    context.textBaseline = "bottom";
    context.fillStyle = palette.ink;
    context.fillText("▼", peak_px, places.y(peak.bytes));
  }
}

/** The visible part of each span that is in the frame. */
function* spansIn(
  spans: readonly PhaseSpan[],
  { left_px, width_px, from_ns, to_ns }: Frame,
  { x }: Places,
): Generator<{ phase: (typeof PHASES)[number]; left_px: number; right_px: number }> {
  const within = (place_px: number): number =>
    Math.max(left_px, Math.min(left_px + width_px, place_px));
  for (const span of spans) {
    if (span.to_ns > from_ns && span.from_ns < to_ns) {
      const [left, right] = [within(x(span.from_ns)), within(x(span.to_ns))];
      yield { phase: PHASES[span.phase]!, left_px: left, right_px: right };
    }
  }
}

/** The marks on the shown part of a run's timeline. */
const LEAST_PHASE_PX = 4;
/** Ends of steps that are nearer to each other are not marked. */
const LEAST_STEP_PX = 10;

export function marksOf({ blocks, trace }: MemoryState, window: Window): Marks {
  const { from_ns, to_ns, width_px } = window;
  const px_ns = (to_ns - from_ns) / width_px;
  const { times_ns, reserved_bytes } = reservedSteps(trace, blocks.place);
  const { peak_ns, peak_bytes } = blocks.events;
  const ends_ns = stepEnds(trace).filter((at_ns) => at_ns >= from_ns && at_ns <= to_ns);
  return {
    phases: phaseSpans(blocks.phases, window, LEAST_PHASE_PX * px_ns),
    stepEnds_ns: ends_ns.length * LEAST_STEP_PX < width_px ? ends_ns : [],
    reserved: { times_ns, bytes: reserved_bytes },
    end_ns: blocks.last_ns,
    peak: { time_ns: peak_ns, bytes: peak_bytes },
  };
}

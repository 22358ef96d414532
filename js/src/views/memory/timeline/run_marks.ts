/** What of a run is marked on its timeline: in the whole of it, and in the part that is shown. */

import { reservedSteps, stepEnds } from "../../../memory/blocks/marks.ts";
import { totalColumns } from "../../../memory/blocks/moment.ts";
import { phaseSpans } from "../../../memory/blocks/phases.ts";
import type { MemoryState } from "../../../memory/memory_state.ts";
import type { Window } from "../../../memory/stack/stack_window.ts";
import type { MemoryFigure } from "../figure/figure.ts";

const OVERVIEW_COLUMNS = 1000;
const LEAST_PHASE_PX = 4;
/** Ends of steps that are closer say nothing. */
const LEAST_STEP_PX = 10;

/** Reserved memory, the peak, and the run in small. */
export function markRun(figure: MemoryFigure, { blocks, trace }: MemoryState): void {
  const { times_ns, reserved_bytes } = reservedSteps(trace, blocks.place);
  const { peak_ns, peak_bytes } = blocks.events;
  figure.mark({
    reserved: { times_ns, bytes: reserved_bytes },
    end_ns: blocks.last_ns,
    peak: { time_ns: peak_ns, bytes: peak_bytes },
  });
  const { times_ns: columns_ns, total_bytes } = totalColumns(blocks, OVERVIEW_COLUMNS);
  figure.setOverview(columns_ns, total_bytes);
}

/**
 * Phases and ends of steps.
 *
 * @param px_ns time of one pixel
 */
export function markWindow(
  figure: MemoryFigure,
  { blocks, trace }: MemoryState,
  window: Window,
  px_ns: number,
): void {
  const { from_ns, to_ns } = window;
  const phases = phaseSpans(blocks.phases, window, LEAST_PHASE_PX * px_ns);
  const ends_ns = stepEnds(trace).filter((at_ns) => at_ns >= from_ns && at_ns <= to_ns);
  const areFar = ends_ns.length * px_ns * LEAST_STEP_PX < to_ns - from_ns;
  figure.mark({ phases, stepEnds_ns: areFar ? ends_ns : [] });
}

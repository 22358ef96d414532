/** The marks on the shown part of a run's timeline. */

import { reservedSteps, stepEnds } from "../../../memory/blocks/marks.ts";
import { phaseSpans } from "../../../memory/blocks/phases.ts";
import type { MemoryState } from "../../../memory/memory_state.ts";
import type { Window } from "../../../memory/stack/stack_window.ts";
import type { Marks } from "../figure/marks.ts";

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

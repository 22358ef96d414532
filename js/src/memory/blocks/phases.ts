/** The times at which the phase changes. */

import { countUntil } from "../../trace/number_order.ts";
import type { Trace } from "../../trace/trace.ts";

/** The times at which the phase changes, for the blocks of one device. */
export interface PhaseChanges {
  readonly times_ns: Float64Array;
  /** Positions in PHASES. */
  readonly phases: Uint8Array;
}

/**
 * Finds the changes of phase: a change is the start of a block that has another phase than the
 * block before it. Blocks from before the trace are ignored.
 */
export function phaseChanges(trace: Trace, rows: Int32Array, start_ns: Float64Array): PhaseChanges {
  const [phaseOf, startOf] = trace.columns("allocations", "phase", "start_ns");
  const changes: number[] = [];
  let last = -1;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    if (row >= 0 && phaseOf[row] !== last && startOf[row]! >= 0) {
      last = phaseOf[row]!;
      changes.push(at);
    }
  }
  return {
    times_ns: Float64Array.from(changes, (at) => start_ns[at]!),
    phases: Uint8Array.from(changes, (at) => phaseOf[rows[at]!]!),
  };
}

export interface PhaseSpan {
  /** Position in PHASES. */
  readonly phase: number;
  readonly from_ns: number;
  readonly to_ns: number;
}

/**
 * The spans of time inside a window. Each has one phase.
 *
 * @param least_ns shorter spans are omitted
 */
export function phaseSpans(
  { times_ns, phases }: PhaseChanges,
  window: { readonly from_ns: number; readonly to_ns: number },
  least_ns: number,
): PhaseSpan[] {
  const spans: PhaseSpan[] = [];
  // The current span began before the window.
  const first = Math.max(0, countUntil(times_ns, window.from_ns) - 1);
  for (let at = first; at < times_ns.length && times_ns[at]! < window.to_ns; at++) {
    const from_ns = Math.max(window.from_ns, times_ns[at]!);
    const to_ns = Math.min(window.to_ns, times_ns[at + 1] ?? Infinity);
    if (to_ns - from_ns >= least_ns) {
      spans.push({ phase: phases[at]!, from_ns, to_ns });
    }
  }
  return spans;
}

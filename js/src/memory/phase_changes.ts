/** Where one phase of a run follows another. */
import type { Trace } from "../model/trace.ts";

/** Where one phase follows another, of the blocks of a device by start. */
export interface PhaseChanges {
  readonly times_ns: Float64Array;
  /** Positions in PHASES. */
  readonly phases: Uint8Array;
}

/** As the blocks' starts tell; those from before the trace tell nothing. */
export function phaseChanges(trace: Trace, rows: Int32Array, start_ns: Float64Array): PhaseChanges {
  const phaseOf = trace.table("allocations").column("phase");
  const startOf = trace.table("allocations").column("start_ns");
  // Mostly few: no arrays as long as the blocks.
  const times_ns: number[] = [];
  const phases: number[] = [];
  let last = -1;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    if (row >= 0 && phaseOf[row] !== last && startOf[row]! >= 0) {
      last = phaseOf[row]!;
      times_ns.push(start_ns[at]!);
      phases.push(last);
    }
  }
  return { times_ns: Float64Array.from(times_ns), phases: Uint8Array.from(phases) };
}

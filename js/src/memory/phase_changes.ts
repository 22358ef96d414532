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
  const times_ns = new Float64Array(rows.length);
  const phases = new Uint8Array(rows.length);
  let count = 0;
  let last = -1;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    if (row >= 0 && phaseOf[row] !== last && startOf[row]! >= 0) {
      last = phaseOf[row]!;
      times_ns[count] = start_ns[at]!;
      phases[count++] = last;
    }
  }
  return { times_ns: times_ns.slice(0, count), phases: phases.slice(0, count) };
}

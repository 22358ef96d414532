/** Where one phase of a run follows another. */
import type { Trace } from "../../trace/trace.ts";

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
  // Mostly few: no arrays as long as the blocks, but for the while that they are looked for.
  const changes = new Int32Array(rows.length);
  let count = 0;
  let last = -1;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    if (row >= 0 && phaseOf[row] !== last && startOf[row]! >= 0) {
      last = phaseOf[row]!;
      changes[count++] = at;
    }
  }
  const times_ns = new Float64Array(count);
  const phases = new Uint8Array(count);
  for (let change = 0; change < count; change++) {
    const at = changes[change]!;
    times_ns[change] = start_ns[at]!;
    phases[change] = phaseOf[rows[at]!]!;
  }
  return { times_ns, phases };
}

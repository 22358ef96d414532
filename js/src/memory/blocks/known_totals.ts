/**
 * Values of Paddle's own counters for a device: their times, and memory that is in no recorded
 * block.
 */
import type { Trace } from "../../trace/trace.ts";

/** The times at which Paddle's counters were first and last read. */
export function countedSpan(
  trace: Trace,
  place: number,
): { from_ns: number; to_ns: number } | undefined {
  const [placeOf, times_ns] = trace.columns("memory_totals", "place", "time_ns");
  const [first, last] = [placeOf.indexOf(place), placeOf.lastIndexOf(place)];
  if (last <= first) {
    return undefined;
  }
  const from_ns = times_ns[first]!;
  // After an error the notebook writes the traceback, which may take longer than the cell itself.
  const to_ns = trace.origin.exception ? lastOpEnd(trace) : Infinity;
  return { from_ns, to_ns: Math.max(from_ns + 1, Math.min(times_ns[last]!, to_ns)) };
}

function lastOpEnd(trace: Trace): number {
  const [startOf, durationOf] = trace.columns("ops", "start_ns", "duration_ns");
  let last_ns = 0;
  for (let op = 0; op < startOf.length; op++) {
    last_ns = Math.max(last_ns, startOf[op]! + durationOf[op]!);
  }
  return last_ns;
}

/** The value of Paddle's counter at the start of the trace, without the recorded older blocks. */
export function unmetBytes(trace: Trace, place: number): number {
  const totals = trace.table("memory_totals");
  const first = totals.column("place").indexOf(place);
  if (first < 0) {
    return 0;
  }
  let met_bytes = 0;
  const [placeOf, bytesOf, startOf] = trace.columns("allocations", "place", "bytes", "start_ns");
  for (let row = 0; row < startOf.length; row++) {
    if (startOf[row]! < 0 && placeOf[row] === place) {
      met_bytes += bytesOf[row]!;
    }
  }
  return Math.max(0, totals.column("allocated_bytes")[first]! - met_bytes);
}

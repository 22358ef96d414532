/** Marks of the timeline: its base, ends of training steps, and reserved memory. */
import type { Trace } from "../../trace/trace.ts";
import type { Blocks } from "./blocks.ts";

/**
 * Memory from before the trace that is at the bottom of the stack, if it is most of the peak: the
 * timeline counts from there, because the rest would look flat. Otherwise 0.
 */
export function baseBytes({ rows, bytes, events }: Blocks): number {
  const earlier_bytes = rows[0] === -1 ? bytes[0]! : 0;
  return 2 * earlier_bytes > events.peak_bytes ? earlier_bytes : 0;
}

/** Ends of training steps, ascending. */
export function stepEnds(trace: Trace): Float64Array {
  return Float64Array.from(trace.table("steps").column("time_ns")).sort();
}

/**
 * The memory that the allocator of a device had reserved, as steps. Empty if the allocator reserves
 * no memory, as on the CPU, because the steps would only repeat the blocks.
 */
export function reservedSteps(
  trace: Trace,
  place: string,
): { times_ns: number[]; reserved_bytes: number[] } {
  const table = trace.table("memory_totals");
  const times_ns: number[] = [];
  const reserved_bytes: number[] = [];
  let keepsBack = false;
  for (let row = 0; row < table.length; row++) {
    if (trace.textAt("memory_totals", "place", row) === place) {
      times_ns.push(Math.max(0, trace.at("memory_totals", "time_ns", row)));
      const reserved = trace.at("memory_totals", "reserved_bytes", row);
      reserved_bytes.push(reserved);
      keepsBack ||= reserved > trace.at("memory_totals", "allocated_bytes", row);
    }
  }
  return keepsBack ? { times_ns, reserved_bytes } : { times_ns: [], reserved_bytes: [] };
}

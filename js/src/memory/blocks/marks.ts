/** Marks of the timeline: ends of training steps, and reserved memory. */
import type { Trace } from "../../trace/trace.ts";

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

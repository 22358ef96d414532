/** What is marked along the timeline: phases, ends of steps, reserved memory. */
import type { Trace } from "../../trace/trace.ts";
import type { PhaseChanges } from "./phase_changes.ts";
import { countUntil } from "./time_order.ts";

export interface PhaseSpan {
  /** Position in PHASES. */
  readonly phase: number;
  readonly from_ns: number;
  readonly to_ns: number;
}

/**
 * Spans of one phase each within a window.
 *
 * @param least_ns shorter ones are left out
 */
export function phaseSpans(
  { times_ns, phases }: PhaseChanges,
  window: { readonly from_ns: number; readonly to_ns: number },
  least_ns: number,
): PhaseSpan[] {
  const spans: PhaseSpan[] = [];
  // The span under way began before the window.
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

/** Ends of training steps, ascending. */
export function stepEnds(trace: Trace): Float64Array {
  return Float64Array.from(trace.table("steps").column("time_ns")).sort();
}

/**
 * What a device's allocator held of the system's memory, as steps; none where it keeps nothing back
 * (as on the CPU) and they would say what the blocks say.
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

/** What is marked along the timeline: phases, ends of steps, reserved memory. */
import type { Trace } from "../model/trace.ts";
import type { Blocks } from "./blocks.ts";

export interface PhaseSpan {
  /** Position in PHASES. */
  readonly phase: number;
  readonly from_ns: number;
  readonly to_ns: number;
}

/** Spans of one phase each, as the blocks' starts and the ops tell; shorter ones join the one before. */
export function phaseSpans(trace: Trace, blocks: Blocks, least_ns: number): PhaseSpan[] {
  const phaseOf = trace.table("allocations").column("phase");
  const startOf = trace.table("allocations").column("start_ns");
  const spans: { phase: number; from_ns: number; to_ns: number }[] = [];
  for (let at = 0; at < blocks.rows.length; at++) {
    const row = blocks.rows[at]!;
    if (row < 0 || startOf[row]! < 0) {
      continue;
    }
    const time_ns = startOf[row]!;
    const last = spans.at(-1);
    if (last?.phase === phaseOf[row]) {
      last!.to_ns = time_ns;
      continue;
    }
    if (last) {
      last.to_ns = time_ns;
      if (time_ns - last.from_ns < least_ns) {
        spans.pop();
        const before = spans.at(-1);
        if (before) {
          before.to_ns = time_ns;
          if (before.phase === phaseOf[row]) {
            continue;
          }
        }
      }
    }
    spans.push({ phase: phaseOf[row]!, from_ns: time_ns, to_ns: time_ns });
  }
  const last = spans.at(-1);
  if (last) {
    last.to_ns = blocks.last_ns;
  }
  return spans;
}

/** Ends of training steps, ascending. */
export function stepEnds(trace: Trace): Float64Array {
  return Float64Array.from(trace.table("steps").column("time_ns")).sort();
}

/** What a device's allocator held of the system's memory, as steps. */
export function reservedSteps(
  trace: Trace,
  place: string,
): { times_ns: number[]; reserved_bytes: number[] } {
  const table = trace.table("memory_totals");
  const times_ns: number[] = [];
  const reserved_bytes: number[] = [];
  for (let row = 0; row < table.length; row++) {
    if (trace.textAt("memory_totals", "place", row) === place) {
      times_ns.push(Math.max(0, trace.at("memory_totals", "time_ns", row)));
      reserved_bytes.push(trace.at("memory_totals", "reserved_bytes", row));
    }
  }
  return { times_ns, reserved_bytes };
}

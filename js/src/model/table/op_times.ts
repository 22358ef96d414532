/** Host time of each op, from the spans of all threads. */

import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";
import { spansOf, threadsOf } from "../time/spans.ts";

export interface OpTimes {
  /** Without the ops and backward calls that ran directly inside it. */
  readonly self_ns: Float64Array;
  readonly total_ns: Float64Array;
  /** The op nearest around each op, -1 for none. */
  readonly around: Int32Array;
}

export function opTimes(trace: Trace): OpTimes {
  return kept(trace, "op times", () => {
    const [self_ns, total_ns] = [new Float64Array(trace.opCount), new Float64Array(trace.opCount)];
    const around = new Int32Array(trace.opCount).fill(-1);
    for (const thread of threadsOf(trace)) {
      const spans = spansOf(trace, thread);
      for (let span = 0; span < spans.length; span++) {
        const op = spans.op[span]!;
        if (op < 0) continue;
        self_ns[op] = spans.self_ns[span]!;
        total_ns[op] = spans.end_ns[span]! - spans.start_ns[span]!;
        let outer = spans.parent[span]!;
        while (outer >= 0 && spans.op[outer]! < 0) outer = spans.parent[outer]!;
        if (outer >= 0) around[op] = spans.op[outer]!;
      }
    }
    return { self_ns, total_ns, around };
  });
}

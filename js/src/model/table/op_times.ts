/** Host time of each op, by the definition of `analysis/time/spans.py`. */

import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";

export interface OpTimes {
  /** Without the ops that ran directly inside it. */
  readonly self_ns: Float64Array;
  readonly total_ns: Float64Array;
  /** The op directly around each op, -1 for none. */
  readonly around: Int32Array;
}

export function opTimes(trace: Trace): OpTimes {
  return kept(trace, "op times", () => nest(trace));
}

function nest(trace: Trace): OpTimes {
  const ops = trace.table("ops");
  const [start, duration, thread] = [
    ops.column("start_ns"),
    ops.column("duration_ns"),
    ops.column("thread"),
  ];
  const total_ns = Float64Array.from(duration, (ns) => Math.max(0, ns));
  const self_ns = total_ns.slice();
  const around = new Int32Array(ops.length).fill(-1);
  const order = Int32Array.from({ length: ops.length }, (_, op) => op);
  const isSorted = start.every(
    (ns, op) => !op || (start[op - 1]! < ns && thread[op - 1] === thread[op]),
  );
  if (!isSorted) {
    order.sort(
      (a, b) =>
        thread[a]! - thread[b]! || start[a]! - start[b]! || total_ns[b]! - total_ns[a]! || a - b,
    );
  }
  let open = -1;
  for (const op of order) {
    const isAfter = (at: number): boolean =>
      thread[at] !== thread[op] || start[at]! + total_ns[at]! <= start[op]!;
    while (open >= 0 && isAfter(open)) open = around[open]!;
    around[op] = open;
    if (open >= 0) {
      // A stored copy of a trace has rounded times.
      const end_ns = start[open]! + total_ns[open]!;
      total_ns[op] = Math.min(total_ns[op]!, end_ns - start[op]!);
      self_ns[op] = total_ns[op]!;
      self_ns[open]! -= total_ns[op]!;
    }
    open = op;
  }
  return { self_ns, total_ns, around };
}

/** The times of kernels as spans, one for each op or grad node. They are not nested. */
import type { Trace } from "../../trace/trace.ts";
import type { Spans } from "./spans.ts";

/** Whether the times of kernels on a device were recorded, not only their calls on the host. */
export function hasDevice(trace: Trace): boolean {
  return trace
    .table("kernel_times")
    .column("device_ns")
    .some((ns) => ns >= 0);
}

/**
 * The kernels of each op and each grad node. A span without either has all other kernels. All spans
 * begin at 0, because the start times of kernels are not recorded.
 */
export function kernelSpans(trace: Trace): Spans {
  const times = trace.table("kernel_times");
  const { length } = times;
  const spent = times.column(hasDevice(trace) ? "device_ns" : "host_ns");
  return {
    length,
    op: Int32Array.from(times.column("op")),
    call: new Int32Array(length).fill(-1),
    gradNode: Int32Array.from(times.column("grad_node")),
    start_ns: new Float64Array(length),
    end_ns: new Float64Array(length),
    self_ns: Float64Array.from(spent, (ns) => Math.max(0, ns)),
    parent: new Int32Array(length).fill(-1),
    own_ns: new Float64Array(length).fill(-1),
  };
}

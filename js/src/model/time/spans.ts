/**
 * Host time as spans: ops and backward calls, one inside another. The definition is that of
 * `analysis/time/spans.py`.
 */
import { kept } from "../../trace/kept.ts";
import { BACKWARD_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

/** The thread that opened the trace. */
export const CELL_THREAD = 0;

const PADDLE_GRAD = BACKWARD_KINDS.indexOf("paddle.grad");
const REMAINING = BACKWARD_KINDS.indexOf("remaining");

/** The spans of one thread by their start, each after the span around it. */
export interface Spans {
  readonly length: number;
  /** The op, -1 for a backward call. */
  readonly op: Int32Array;
  /** The backward call, -1 for an op. */
  readonly call: Int32Array;
  /** Since the trace began. */
  readonly start_ns: Float64Array;
  /** Not after the end of the span around it. */
  readonly end_ns: Float64Array;
  /** Without the spans directly inside. */
  readonly self_ns: Float64Array;
  /** The span directly around it, -1 for none. */
  readonly parent: Int32Array;
  /** The trace's own work in the thread until the span began; -1 if it is not known. */
  readonly own_ns: Float64Array;
}

/** Threads in which ops ran, that of the cell first. */
export function threadsOf(trace: Trace): number[] {
  return kept(trace, "threads with spans", () => {
    const threads = new Set([CELL_THREAD]);
    for (const thread of trace.table("ops").column("thread")) threads.add(thread);
    return [...threads].sort((a, b) => a - b);
  });
}

/** From the beginning of the trace to its end; a record from elsewhere may end before its last op. */
export function wallOf(trace: Trace, spans: Spans): number {
  let end_ns = trace.origin.duration_ns;
  for (let span = 0; span < spans.length; span++) end_ns = Math.max(end_ns, spans.end_ns[span]!);
  return end_ns;
}

/** The trace's own work in the cell's thread, -1 if it is not known. */
export function ownOf(trace: Trace): number {
  const times = trace.table("own_times");
  const last = times.length - 1;
  return last >= 0 && times.column("op")[last]! < 0 ? times.column("own_ns")[last]! : -1;
}

/**
 * Whether the record has the time of all ops and backward calls, and of its own work. If not, ops
 * may have run in the gaps.
 */
export function isTimeComplete(trace: Trace): boolean {
  const kinds = trace.table("backward_calls").column("kind");
  let ran = 0;
  for (const kind of kinds) ran += Number(kind !== REMAINING);
  return !trace.origin.kept && ownOf(trace) >= 0 && ran === trace.table("backward_times").length;
}

export function spansOf(trace: Trace, thread: number): Spans {
  const found = unsorted(trace, thread);
  const { length } = found.op;
  const end = found.start_ns.map((start, at) => start + Math.max(0, found.duration_ns[at]!));
  const order = Int32Array.from({ length }, (_, at) => at);
  const isSorted = found.start_ns.every((start, at) => !at || found.start_ns[at - 1]! < start);
  if (!isSorted) {
    order.sort((a, b) => found.start_ns[a]! - found.start_ns[b]! || end[b]! - end[a]! || a - b);
  }
  const spans = {
    length,
    op: order.map((at) => found.op[at]!),
    call: order.map((at) => found.call[at]!),
    start_ns: Float64Array.from(order, (at) => found.start_ns[at]!),
    end_ns: Float64Array.from(order, (at) => end[at]!),
    self_ns: new Float64Array(length),
    parent: new Int32Array(length).fill(-1),
    own_ns: Float64Array.from(order, (at) => found.own_ns[at]!),
  };
  nest(spans);
  return spans;
}

function unsorted(trace: Trace, thread: number) {
  const [op, call]: [number[], number[]] = [[], []];
  const [start_ns, duration_ns, own_ns]: [number[], number[], number[]] = [[], [], []];
  const own = trace.table("own_times");
  const ownOfOp = new Float64Array(trace.opCount).fill(-1);
  for (let row = 0; row < own.length; row++) {
    if (own.column("op")[row]! >= 0) ownOfOp[own.column("op")[row]!] = own.column("own_ns")[row]!;
  }
  const ops = trace.table("ops");
  const [threads, starts, durations] = (["thread", "start_ns", "duration_ns"] as const).map(
    (name) => ops.column(name),
  );
  for (let row = 0; row < ops.length; row++) {
    if (threads![row] !== thread) continue;
    op.push(row);
    call.push(-1);
    start_ns.push(starts![row]!);
    duration_ns.push(durations![row]!);
    own_ns.push(ownOfOp[row]!);
  }
  const times = trace.table("backward_times");
  for (let row = 0; row < times.length; row++) {
    const key = times.column("backward_call")[row]!;
    // A call of `paddle.grad` that returned is an op, with the same times.
    const isOp =
      trace.at("backward_calls", "kind", key) === PADDLE_GRAD &&
      !trace.textAt("backward_calls", "error", key);
    if (isOp || times.column("thread")[row] !== thread) continue;
    op.push(-1);
    call.push(key);
    start_ns.push(times.column("start_ns")[row]!);
    duration_ns.push(times.column("duration_ns")[row]!);
    own_ns.push(times.column("own_ns")[row]!);
  }
  return { op, call, start_ns, duration_ns, own_ns };
}

/** Find the span around each span, and its self time. */
function nest({ length, start_ns, end_ns, self_ns, parent }: Spans): void {
  let open = -1;
  for (let span = 0; span < length; span++) {
    while (open >= 0 && end_ns[open]! <= start_ns[span]!) open = parent[open]!;
    parent[span] = open;
    if (open >= 0) {
      // A stored copy of a trace has rounded times.
      end_ns[span] = Math.min(end_ns[span]!, end_ns[open]!);
      self_ns[open]! -= end_ns[span]! - start_ns[span]!;
    }
    self_ns[span] = end_ns[span]! - start_ns[span]!;
    open = span;
  }
}

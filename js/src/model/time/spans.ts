/**
 * Host time as spans: ops and backward calls, nested in each other. `analysis/time/spans.py` has the
 * definition.
 */
import { kept } from "../../trace/kept.ts";
import { BACKWARD_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";

/** The thread that opened the trace. */
export const CELL_THREAD = 0;

const PADDLE_GRAD = BACKWARD_KINDS.indexOf("paddle.grad");
const REMAINING = BACKWARD_KINDS.indexOf("remaining");

/** The spans of one thread by their start; each comes after the span that contains it. */
export interface Spans {
  readonly length: number;
  /** The op, -1 for a backward call. */
  readonly op: Int32Array;
  /** The backward call, -1 for an op. */
  readonly call: Int32Array;
  /** The grad node of the kernels, -1 for none; only for kernels. */
  readonly gradNode?: Int32Array;
  /** The start of the span, since the trace began. */
  readonly start_ns: Float64Array;
  /** The end of the span, at most the end of the span around it. */
  readonly end_ns: Float64Array;
  /** The span's time without the spans directly inside it. */
  readonly self_ns: Float64Array;
  /** The innermost span around the span, -1 for none. */
  readonly parent: Int32Array;
  /** The time of the trace's own work in this thread before the span began; -1 if unknown. */
  readonly own_ns: Float64Array;
}

/** Threads in which ops ran, the cell's thread first. */
export function threadsOf(trace: Trace): number[] {
  return kept(trace, "threads with spans", () => {
    const threads = new Set([CELL_THREAD]);
    for (const thread of trace.table("ops").column("thread")) threads.add(thread);
    return [...threads].sort((a, b) => a - b);
  });
}

/**
 * The time from the beginning of the trace to its end. A saved record may end before its last op.
 */
export function wallOf(trace: Trace, spans: Spans): number {
  let end_ns = trace.origin.duration_ns;
  for (let span = 0; span < spans.length; span++) end_ns = Math.max(end_ns, spans.end_ns[span]!);
  return end_ns;
}

/** The time of the trace's own work in the cell's thread; -1 if unknown. */
export function ownOf(trace: Trace): number {
  const times = trace.table("own_times");
  const last = times.length - 1;
  return last >= 0 && times.column("op")[last]! < 0 ? times.column("own_ns")[last]! : -1;
}

/**
 * Whether the record has the time of all ops and backward calls, and of the trace's own work. If not,
 * ops may have run in the gaps.
 */
export function isTimeComplete(trace: Trace): boolean {
  const kinds = trace.table("backward_calls").column("kind");
  let ran = 0;
  for (const kind of kinds) ran += Number(kind !== REMAINING);
  return !trace.origin.kept && ownOf(trace) >= 0 && ran === trace.table("backward_times").length;
}

export function spansOf(trace: Trace, thread: number): Spans {
  const found = unsorted(trace, thread);
  const { length, start_ns, end_ns } = found;
  const isBefore = (a: number, b: number): number =>
    start_ns[a]! - start_ns[b]! || end_ns[b]! - end_ns[a]! || a - b;
  let isSorted = true;
  for (let at = 1; at < length && isSorted; at++) isSorted = isBefore(at - 1, at) < 0;
  const parent = new Int32Array(length);
  const spans = { ...found, self_ns: new Float64Array(length), parent };
  if (!isSorted) {
    for (let at = 0; at < length; at++) parent[at] = at;
    parent.sort(isBefore);
    for (const name of ["op", "call", "start_ns", "end_ns", "own_ns"] as const) {
      const column = spans[name].slice();
      for (let at = 0; at < length; at++) spans[name][at] = column[parent[at]!]!;
    }
  }
  nest(spans);
  return spans;
}

/** The spans of all threads, one thread after the other. */
export function allSpans(trace: Trace): Spans {
  return kept(trace, "spans of all threads", () => {
    const [first, ...others] = threadsOf(trace).map((thread) => spansOf(trace, thread));
    return others.reduce(joined, first!);
  });
}

/** The span of each op. */
export function spanOfOps(trace: Trace): Int32Array {
  return kept(trace, "spans of ops", () => {
    const spanOf = new Int32Array(trace.opCount).fill(-1);
    allSpans(trace).op.forEach((op, span) => {
      if (op >= 0) spanOf[op] = span;
    });
    return spanOf;
  });
}

function joined(one: Spans, other: Spans): Spans {
  const join = <T extends Float64Array | Int32Array>(from: T, then: T): T => {
    const made = new (from.constructor as new (count: number) => T)(one.length + other.length);
    made.set(from);
    made.set(then, one.length);
    return made;
  };
  return {
    length: one.length + other.length,
    op: join(one.op, other.op),
    call: join(one.call, other.call),
    start_ns: join(one.start_ns, other.start_ns),
    end_ns: join(one.end_ns, other.end_ns),
    self_ns: join(one.self_ns, other.self_ns),
    own_ns: join(one.own_ns, other.own_ns),
    parent: join(
      one.parent,
      other.parent.map((at) => (at < 0 ? at : at + one.length)),
    ),
  };
}

/** The spans of a thread, ops first. */
function unsorted(trace: Trace, thread: number) {
  const ops = trace.table("ops");
  const times = trace.table("backward_times");
  const most = ops.length + times.length;
  const [op, call] = [new Int32Array(most), new Int32Array(most)];
  const [start, end, own] = [0, 1, 2].map(() => new Float64Array(most)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  let length = 0;
  const add = (of: readonly [number, number], begin: number, lasted: number, work: number) => {
    [op[length], call[length]] = of;
    start[length] = begin;
    end[length] = begin + Math.max(0, lasted);
    own[length] = work;
    length++;
  };
  const ownOfOp = ownOfOps(trace);
  const [threads, starts, durations] = (["thread", "start_ns", "duration_ns"] as const).map(
    (name) => ops.column(name),
  );
  for (let row = 0; row < trace.recordedOpCount; row++) {
    if (threads![row] === thread) add([row, -1], starts![row]!, durations![row]!, ownOfOp[row]!);
  }
  for (let row = 0; row < times.length; row++) {
    const [key, begin, lasted, work] = (
      ["backward_call", "start_ns", "duration_ns", "own_ns"] as const
    ).map((name) => times.column(name)[row]!);
    // A call of `paddle.grad` that returned is also an op with the same times.
    const isOp =
      trace.at("backward_calls", "kind", key!) === PADDLE_GRAD &&
      !trace.textAt("backward_calls", "error", key!);
    if (!isOp && times.column("thread")[row] === thread) add([-1, key!], begin!, lasted!, work!);
  }
  return {
    length,
    op: op.subarray(0, length),
    call: call.subarray(0, length),
    start_ns: start.subarray(0, length),
    end_ns: end.subarray(0, length),
    own_ns: own.subarray(0, length),
  };
}

function ownOfOps(trace: Trace): Float64Array {
  const ownOfOp = new Float64Array(trace.opCount).fill(-1);
  const times = trace.table("own_times");
  const [op, own_ns] = trace.columns("own_times", "op", "own_ns");
  for (let row = 0; row < times.length; row++) {
    if (op[row]! >= 0) ownOfOp[op[row]!] = own_ns[row]!;
  }
  return ownOfOp;
}

/** Find the span that contains each span, and each span's self time. */
function nest({ length, start_ns, end_ns, self_ns, parent }: Spans): void {
  let open = -1;
  for (let span = 0; span < length; span++) {
    while (open >= 0 && end_ns[open]! <= start_ns[span]!) open = parent[open]!;
    parent[span] = open;
    if (open >= 0) {
      // A reduced copy of a trace has rounded times.
      end_ns[span] = Math.min(end_ns[span]!, end_ns[open]!);
      self_ns[open]! -= end_ns[span]! - start_ns[span]!;
    }
    self_ns[span] = end_ns[span]! - start_ns[span]!;
    open = span;
  }
}

/** Runs of consecutive siblings with the same structure. A picture shows a run as a single box. */
import type { RowsByKey } from "../../trace/csr.ts";
import type { Trace } from "../../trace/trace.ts";

/** A run is folded if it has at least this many members. Members with several ops need fewer. */
const RUN_OF_SINGLES = 3;
const RUN_OF_BLOCKS = 2;

/** The siblings in which to find runs. */
export interface Siblings {
  /** Groups by their parent + 1, in execution order. */
  readonly groups: RowsByKey;
  /** Ops by their group + 1, in execution order. */
  readonly ops: RowsByKey;
  /** The position of each group among ops. */
  readonly order: Float64Array;
  readonly isTransparent: Uint8Array;
}

export interface Runs {
  /** The first group of the run to which a group belongs, -1 for none. */
  readonly runOf: Int32Array;
  /** The members of each run in execution order, keyed by the first member. */
  readonly members: ReadonlyMap<number, Int32Array>;
}

export function findRuns(trace: Trace, siblings: Siblings): Runs {
  const runOf = new Int32Array(trace.groupCount).fill(-1);
  const members = new Map<number, Int32Array>();
  const [structure, kind, opCount] = trace.columns("groups", "structure", "kind", "op_count");
  const { groups, ops, order } = siblings;
  const close = (start: number, end: number): void => {
    const first = groups.rows[start]!;
    const least = opCount[first]! > 1 ? RUN_OF_BLOCKS : RUN_OF_SINGLES;
    if (end - start >= least && !siblings.isTransparent[first]) {
      const run = groups.rows.subarray(start, end);
      members.set(first, run);
      for (const group of run) {
        runOf[group] = first;
      }
    }
  };
  for (let parent = 0; parent <= trace.groupCount; parent++) {
    const end = groups.starts[parent + 1]!;
    let start = groups.starts[parent]!;
    let opAt = ops.starts[parent]!;
    const lastOp = ops.starts[parent + 1]!;
    for (let at = start; at < end; at++) {
      const group = groups.rows[at]!;
      // If an op were between two members, it would be both after and before the folded box.
      const before = opAt;
      while (opAt < lastOp && ops.rows[opAt]! < order[group]!) {
        opAt++;
      }
      const previous = groups.rows[at - 1]!;
      const repeats =
        at > start &&
        opAt === before &&
        structure[group]! >= 0 &&
        structure[group] === structure[previous] &&
        kind[group] === kind[previous];
      if (at > start && !repeats) {
        close(start, at);
        start = at;
      }
    }
    if (start < end) {
      close(start, end);
    }
  }
  return { runOf, members };
}

/** A label for a run: "layers.0–11" for "layers.0" … "layers.11", otherwise "a … b". */
export function runLabel(first: string, last: string): string {
  const a = /^(.*?)(\d+)$/s.exec(first);
  const b = /^(.*?)(\d+)$/s.exec(last);
  if (first === last) {
    return first;
  }
  return a && b && a[1] === b[1] ? `${first}–${b[2]}` : `${first} … ${last}`;
}

/**
 * Parameters that the ops of a row read: each parameter counts once in a row. Which tensors are
 * parameters is told as in `analysis/cost/parameters.py`.
 */

import { kept } from "../../trace/kept.ts";
import { ROLES, TENSOR_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { standInsOf } from "../graph/stand_ins.ts";
import type { Mask, Sums } from "./sums.ts";
import type { TableRows } from "./table_rows.ts";

const PARAMETER = TENSOR_KINDS.indexOf("parameter");
const INPUT = ROLES.indexOf("input");

interface Read {
  readonly op: number;
  /** Number of the parameter. */
  readonly parameter: number;
}

interface Known {
  readonly reads: readonly Read[];
  readonly elements: readonly number[];
  readonly bytes: readonly number[];
}

function readParameters(trace: Trace): Known {
  return kept(trace, "reads of parameters", () => {
    const uses = trace.table("uses");
    const [opOf, tensorOf, role] = (["op", "tensor", "role"] as const).map((name) =>
      uses.column(name),
    );
    const kind = trace.table("tensors").column("kind");
    const first = firstValues(trace);
    const statistics = runningStatistics(trace, first);
    const numbers = new Int32Array(kind.length).fill(-1);
    const [reads, elements, bytes]: [Read[], number[], number[]] = [[], [], []];
    for (let use = 0; use < uses.length; use++) {
      const [op, tensor] = [opOf![use]!, tensorOf![use]!];
      if (role![use] !== INPUT || op < 0 || tensor < 0 || kind![tensor] !== PARAMETER) continue;
      const parameter = first[tensor]!;
      if (statistics.has(parameter)) continue;
      if (numbers[parameter]! < 0) {
        const size = elementsOf(trace.textAt("tensors", "shape", parameter));
        numbers[parameter] = elements.push(size) - 1;
        bytes.push(trace.at("tensors", "bytes", parameter));
      }
      reads.push({ op, parameter: numbers[parameter]! });
    }
    return { reads, elements, bytes };
  });
}

/** The first value of each tensor: an optimizer's step makes a new row for the same parameter. */
function firstValues(trace: Trace): Int32Array {
  const previous = trace.table("tensors").column("previous");
  const first = new Int32Array(previous.length).fill(-1);
  for (let tensor = 0; tensor < first.length; tensor++) {
    const way: number[] = [];
    let at = tensor;
    while (first[at]! < 0 && previous[at]! >= 0 && way.length < first.length) {
      way.push(at);
      at = previous[at]!;
    }
    const found = first[at]! < 0 ? at : first[at]!;
    for (const passed of [...way, at]) first[passed] = found;
  }
  return first;
}

/** Running means and variances of batch normalisations, which are not trained. */
function runningStatistics(trace: Trace, first: Int32Array): ReadonlySet<number> {
  const found = new Set<number>();
  const isNorm = trace.strings.map((text) => text.includes("batch_norm"));
  const name = trace.table("ops").column("name");
  const uses = trace.table("uses");
  const [opOf, tensorOf, role, slot] = (["op", "tensor", "role", "slot"] as const).map((column) =>
    uses.column(column),
  );
  for (let use = 0; use < uses.length; use++) {
    const isMeant = role![use] === INPUT && (slot![use] === 1 || slot![use] === 2);
    if (isMeant && opOf![use]! >= 0 && tensorOf![use]! >= 0 && isNorm[name[opOf![use]!]!])
      found.add(first[tensorOf![use]!]!);
  }
  return found;
}

/** 12 of "[3, 4]"; 1 of "[]". */
export function elementsOf(shape: string): number {
  return (shape.match(/\d+/g) ?? []).reduce((product, size) => product * Number(size), 1);
}

/** How many elements and bytes the parameters of each row have. */
export function sumParameters(
  trace: Trace,
  rows: TableRows,
  mask: Mask,
): { parameters: Sums; bytes: Sums } {
  const { reads, elements, bytes } = readParameters(trace);
  const [counts, sizes] = [new Float64Array(rows.count), new Float64Array(rows.count)];
  const seen = new Set<number>();
  const all = new Set<number>();
  const count = elements.length;
  const add = (row: number, parameter: number): void => {
    const pair = row * count + parameter;
    if (row < 0 || seen.has(pair)) return;
    seen.add(pair);
    counts[row]! += elements[parameter]!;
    sizes[row]! += bytes[parameter]!;
  };
  const seenIn = new Set<number>();
  for (const { op, parameter } of reads) {
    if (mask && !mask[op]) continue;
    all.add(parameter);
    if (!rows.places) {
      add(rows.rowOf[op]!, parameter);
      continue;
    }
    const { parent, ofOp, row } = rows.places;
    for (let at = ofOp[op]!; at >= 0 && !seenIn.has(at * count + parameter); at = parent[at]!) {
      seenIn.add(at * count + parameter);
      add(row[at]!, parameter);
    }
  }
  const { known, unknown, totalUnknown } = unknownOps(trace, rows, mask);
  const of = (values: Float64Array, each: readonly number[]): Sums => ({
    values,
    known,
    unknown,
    total: [...all].reduce((sum, parameter) => sum + each[parameter]!, 0),
    totalKnown: all.size,
    totalUnknown,
  });
  return { parameters: of(counts, elements), bytes: of(sizes, bytes) };
}

/** What one stored op stands for has parameters that were not stored. */
function unknownOps(
  trace: Trace,
  rows: TableRows,
  mask: Mask,
): Pick<Sums, "known" | "unknown" | "totalUnknown"> {
  const { ops: weights } = standInsOf(trace);
  const known = new Int32Array(rows.count).fill(1);
  const unknown = new Int32Array(rows.count);
  let totalUnknown = 0;
  weights?.forEach((weight, op) => {
    if (weight < 2 || (mask && !mask[op])) return;
    totalUnknown++;
    const { places } = rows;
    if (!places) unknown[rows.rowOf[op]!]!++;
    else
      for (let at = places.ofOp[op]!; at >= 0; at = places.parent[at]!)
        if (places.row[at]! >= 0) unknown[places.row[at]!]!++;
  });
  return { known, unknown, totalUnknown };
}

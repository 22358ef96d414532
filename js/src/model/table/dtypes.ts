/** The dtypes of what the ops of a row made. */

import { kept } from "../../trace/kept.ts";
import { ROLES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { spanOfOps } from "../time/spans.ts";
import { foldPlaces, type Mask } from "./sums.ts";
import type { TableRows } from "./table_rows.ts";

const OUTPUT = ROLES.indexOf("output");
/** Paddle has fewer; they are bits of a number. */
const MOST_DTYPES = 30;

interface Dtypes {
  readonly names: readonly string[];
  /** By op: bit `n` is set if it made a tensor of dtype `names[n]`. */
  readonly ofOp: Int32Array;
}

function madeDtypes(trace: Trace): Dtypes {
  return kept(trace, "made dtypes", () => {
    const uses = trace.table("uses");
    const [op, tensor, role] = (["op", "tensor", "role"] as const).map((name) => uses.column(name));
    const dtype = trace.table("tensors").column("dtype");
    const bits = new Map<number, number>();
    const ofOp = new Int32Array(trace.opCount);
    for (let use = 0; use < uses.length; use++) {
      if (role![use] !== OUTPUT || op![use]! < 0 || tensor![use]! < 0) continue;
      const code = dtype[tensor![use]!]!;
      if (!bits.has(code)) bits.set(code, Math.min(bits.size, MOST_DTYPES));
      ofOp[op![use]!]! |= 1 << bits.get(code)!;
    }
    return { names: [...bits.keys()].map((code) => trace.text(code)), ofOp };
  });
}

/** By row: a number, equal for rows with the same dtypes. */
export function dtypesOfRows(trace: Trace, rows: TableRows, mask: Mask): Int32Array {
  const { ofOp } = madeDtypes(trace);
  const { places } = rows;
  const sets = new Int32Array(rows.count);
  const bins = places ? new Int32Array(places.parent.length) : sets;
  const binOf = places?.ofItem ?? rows.rowOf;
  spanOfOps(trace).forEach((item, op) => {
    if (item >= 0 && (!mask || mask[item]) && binOf[item]! >= 0) bins[binOf[item]!]! |= ofOp[op]!;
  });
  return places ? foldPlaces(places, bins, sets, (one, other) => one | other) : sets;
}

/** "float32" or "float32, int64"; "" of a row whose ops made no tensor. */
export function dtypeNames(trace: Trace, set: number): string {
  return madeDtypes(trace)
    .names.filter((_, bit) => set & (1 << bit))
    .join(", ");
}

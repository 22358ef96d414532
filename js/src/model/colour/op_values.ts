/** Values of ops that determine their colours; NaN if unknown. */
import { kept } from "../../trace/kept.ts";
import { ROLES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { eachUse } from "../../trace/uses.ts";
import { comparisonOf } from "../graph/comparison.ts";
import { parameterReads } from "../graph/parameter_reads.ts";
import { traceTotals } from "../graph/trace_totals.ts";
import type { Colouring } from "../state/view_state.ts";

const INPUT = ROLES.indexOf("input");

/** Host time in ns, bytes, or the share of NaN among the values of the outputs. */
export function opValues(trace: Trace, name: Exclude<Colouring, "gradient_norm">): Float64Array {
  return kept(trace, `values of ${name}`, () => numbersOf(trace, name));
}

function numbersOf(trace: Trace, name: Exclude<Colouring, "gradient_norm">): Float64Array {
  switch (name) {
    case "difference":
      return comparisonOf(trace)?.kinds.slice() ?? new Float64Array(trace.opCount).fill(Number.NaN);
    case "time":
      return Float64Array.from(trace.table("ops").column("duration_ns"));
    case "nan_share":
      return nanShares(trace);
    case "dtype":
      return Float64Array.from(dtypes(trace));
    case "parameters":
      return parameterElements(trace);
    case "flops":
    case "output_bytes":
    case "saved_bytes": {
      const costs = trace.table("op_costs");
      if (costs.length !== trace.opCount) return new Float64Array(trace.opCount).fill(Number.NaN);
      return Float64Array.from(costs.column(name), (value) => (value < 0 ? Number.NaN : value));
    }
  }
}

function parameterElements(trace: Trace): Float64Array {
  const elements = new Float64Array(trace.opCount);
  const reads = parameterReads(trace);
  reads.ops.forEach((op, read) => {
    elements[op]! += reads.elements[reads.numbers[read]!]!;
  });
  return elements;
}

/** The share of NaN in the outputs with recorded values. */
function nanShares(trace: Trace): Float64Array {
  const [nans, elements] = [new Float64Array(trace.opCount), new Float64Array(trace.opCount)];
  const { valueStat } = traceTotals(trace);
  const [nansOf, elementsOf] = trace.columns("value_stats", "nans", "elements");
  eachOutput(trace, (op, tensor) => {
    const row = valueStat[tensor]!;
    if (row < 0) return;
    nans[op]! += nansOf[row]!;
    elements[op]! += elementsOf[row]!;
  });
  // An op without a recorded value gets 0 / 0, which is NaN.
  return nans.map((count, op) => count / elements[op]!);
}

/** The dtype of the first output, as a position in `strings`. */
function dtypes(trace: Trace): Float64Array {
  const codes = new Float64Array(trace.opCount).fill(Number.NaN);
  const dtype = trace.table("tensors").column("dtype");
  eachOutput(trace, (op, tensor) => {
    if (Number.isNaN(codes[op]!) && trace.text(dtype[tensor]!)) codes[op] = dtype[tensor]!;
  });
  return codes;
}

function eachOutput(trace: Trace, see: (op: number, tensor: number) => void): void {
  eachUse(trace, (op, tensor, role) => {
    if (role !== INPUT) see(op, tensor);
  });
}

/** Which parameters ops read. */
import { kept } from "../../trace/kept.ts";
import { ROLES, TENSOR_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { eachUse } from "../../trace/uses.ts";

const PARAMETER = TENSOR_KINDS.indexOf("parameter");
const INPUT = ROLES.indexOf("input");

export interface ParameterReads {
  /**
   * Keys of ops. `numbers` has the number of the parameter that each op reads. Each pair occurs
   * once.
   */
  readonly ops: readonly number[];
  readonly numbers: readonly number[];
  /** The size of each parameter, by its number. */
  readonly elements: readonly number[];
  readonly bytes: readonly number[];
}

export function parameterReads(trace: Trace): ParameterReads {
  return kept(trace, "reads of parameters", () => {
    const kind = trace.table("tensors").column("kind");
    const identityOf = identities(trace);
    const statistics = runningStatistics(trace, identityOf);
    const numberOf = new Map<number, number>();
    const readBy = new Map<number, number>();
    const [ops, numbers]: [number[], number[]] = [[], []];
    const [elements, bytes]: [number[], number[]] = [[], []];
    eachUse(trace, (op, tensor, role) => {
      if (role !== INPUT || kind[tensor] !== PARAMETER) return;
      const parameter = identityOf(tensor);
      if (statistics.has(parameter)) return;
      let number = numberOf.get(parameter);
      if (number === undefined) {
        number = elements.push(elementsOf(trace, tensor)) - 1;
        bytes.push(trace.at("tensors", "bytes", tensor));
        numberOf.set(parameter, number);
      }
      if (readBy.get(number) === op) return;
      readBy.set(number, op);
      ops.push(op);
      numbers.push(number);
    });
    return { ops, numbers, elements, bytes };
  });
}

export function elementsOf(trace: Trace, tensor: number): number {
  const shape = trace.textAt("tensors", "shape", tensor).match(/\d+/g) ?? [];
  return shape.reduce((product, size) => product * Number(size), 1);
}

/**
 * A number that all rows of a parameter share. The initializer and each optimizer step make a new
 * row, and these rows have the parameter's name in Paddle in common.
 */
function identities(trace: Trace): (tensor: number) => number {
  const [name, previous] = trace.columns("tensors", "name", "previous");
  return (tensor) => {
    let at = tensor;
    for (let steps = 0; !name[at] && previous[at]! >= 0 && steps < name.length; steps++)
      at = previous[at]!;
    return name[at] || -1 - at;
  };
}

/** Running means and variances of batch normalisations, which are not trained. */
function runningStatistics(
  trace: Trace,
  identityOf: (tensor: number) => number,
): ReadonlySet<number> {
  const found = new Set<number>();
  const isNorm = trace.strings.map((text) => text.includes("batch_norm"));
  const name = trace.table("ops").column("name");
  const slot = trace.table("uses").column("slot");
  eachUse(trace, (op, tensor, role, use) => {
    const isMeant = role === INPUT && (slot[use] === 1 || slot[use] === 2);
    if (isMeant && isNorm[name[op]!]) found.add(identityOf(tensor));
  });
  return found;
}

/**
 * Ops and grad nodes that stand for several others. A notebook stores a reduced copy of a large
 * trace (`paddle_lab/views/reduction/`), but counts still describe the whole trace.
 */
import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";

/** How many ops or grad nodes a row stands for; `undefined` if each row stands for one. */
type Weights = Int32Array | undefined;

export interface StandIns {
  readonly ops: Weights;
  readonly gradNodes: Weights;
  /** Like `gradNodes`, without nodes that accumulate into a parameter. */
  readonly gradNodesOnTheWay: Weights;
  /** How many ops ran. */
  readonly opTotal: number;
  readonly gradNodeTotal: number;
}

export function standInsOf(trace: Trace): StandIns {
  return kept(trace, "stand-ins", () => readStandIns(trace));
}

function readStandIns(trace: Trace): StandIns {
  const { opCount, gradNodeCount } = trace;
  const table = trace.table("stand_ins");
  if (table.length === 0) {
    return {
      ops: undefined,
      gradNodes: undefined,
      gradNodesOnTheWay: undefined,
      opTotal: opCount,
      gradNodeTotal: gradNodeCount,
    };
  }
  const ops = new Int32Array(opCount).fill(1);
  const gradNodes = new Int32Array(gradNodeCount).fill(1);
  const gradNodesOnTheWay = new Int32Array(gradNodeCount).fill(1);
  for (let row = 0; row < table.length; row++) {
    const op = table.column("op")[row]!;
    const gradNode = table.column("grad_node")[row]!;
    const count = table.column("count")[row]!;
    if (op >= 0) {
      ops[op] = count;
    }
    if (gradNode >= 0) {
      gradNodes[gradNode] = count;
      gradNodesOnTheWay[gradNode] = count - table.column("leaves")[row]!;
    }
  }
  const sum = (weights: Int32Array): number => weights.reduce((total, weight) => total + weight, 0);
  return {
    ops,
    gradNodes,
    gradNodesOnTheWay,
    opTotal: sum(ops),
    gradNodeTotal: sum(gradNodes),
  };
}

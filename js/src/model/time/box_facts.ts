/**
 * Facts about the boxes of a time tree: their ops, phases and members, and the box around some ops.
 */
import { PHASES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import type { GrownTree } from "./grow_tree.ts";
import type { Places } from "./places.ts";

const BACKWARD = PHASES.indexOf("backward");

/** How many ops are in each box. With a mask, how many of the ops in the mask. */
export function opsInside({ tree, spans, boxOfSpan }: GrownTree, mask?: Uint8Array): Int32Array {
  const inside = new Int32Array(tree.length);
  for (let span = 0; span < spans.length; span++) {
    const op = spans.op[span]!;
    if (op >= 0 && (!mask || mask[op])) inside[boxOfSpan[span]!]!++;
  }
  for (let box = inside.length - 1; box > 0; box--) inside[tree.parent(box)]! += inside[box]!;
  return inside;
}

/** The self time of the ops in a mask. */
export function timeOf({ spans }: GrownTree, mask: Uint8Array): number {
  let sum_ns = 0;
  for (let span = 0; span < spans.length; span++) {
    if (spans.op[span]! >= 0 && mask[spans.op[span]!]) sum_ns += spans.self_ns[span]!;
  }
  return sum_ns;
}

/** The common phase of all ops in a box, as a position in `PHASES`; -1 for none, -2 for several. */
export function phasesOf(trace: Trace, { tree, spans, boxOfSpan }: GrownTree): Int8Array {
  const phases = new Int8Array(tree.length).fill(-1);
  const note = (box: number, phase: number): void => {
    if (phase !== -1 && phases[box] !== phase) phases[box] = phases[box] === -1 ? phase : -2;
  };
  const phaseOfOp = trace.table("ops").column("phase");
  for (let span = 0; span < spans.length; span++) {
    const isOther = tree.of(boxOfSpan[span]!).kind === "other";
    const op = spans.op[span]!;
    if (!isOther) note(boxOfSpan[span]!, op < 0 ? BACKWARD : phaseOfOp[op]!);
  }
  for (let box = phases.length - 1; box > 0; box--) note(tree.parent(box), phases[box]!);
  return phases;
}

/** The innermost box that contains all ops of a mask, -1 if the mask is empty. */
export function boxAround({ tree, spans, boxOfSpan }: GrownTree, mask: Uint8Array): number {
  let found = -1;
  for (let span = 0; span < spans.length; span++) {
    const op = spans.op[span]!;
    if (op < 0 || !mask[op]) continue;
    let box = boxOfSpan[span]!;
    // In the list, a box comes after the box that contains it.
    if (found < 0) found = box;
    while (box !== found) {
      if (box > found) box = tree.parent(box);
      else found = tree.parent(found);
    }
  }
  return found;
}

/** The ops, backward calls, groups or frames that a box stands for, in the order of time. */
export function membersOf(
  { tree, spans, boxOfSpan, boxOfPlace }: GrownTree,
  places: Places,
  box: number,
): number[] {
  const { kind, key } = tree.of(box);
  const members: number[] = [];
  if (kind === "op" || kind === "backward" || kind === "grad_node") {
    const { op, call, gradNode = call } = spans;
    const keys = kind === "op" ? op : kind === "backward" ? call : gradNode;
    for (let span = 0; span < spans.length; span++) {
      if (boxOfSpan[span] === box) members.push(keys[span]!);
    }
  } else if (kind === "group") {
    boxOfPlace.forEach((other, place) => {
      if (other === box && places.kind[place] === kind) members.push(places.key[place]!);
    });
  }
  return members.length ? members : [key];
}

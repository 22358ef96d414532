/** The order in which the lines round an open group come to its ports. */

import type { Frame, PortOrder } from "./frame.ts";
import type { Links } from "./lift.ts";

/** @returns null where the group's ports are in that order already. */
export function wantedOrder(
  outer: Frame,
  group: number,
  inner: Frame,
  links: Links,
): PortOrder | null {
  if (inner.entry.size < 2 && inner.exit.size < 2) return null;
  const entryX = new Map<number, number>();
  const exitX = new Map<number, number>();
  const { edgeStart, pathX } = outer.layout;
  outer.links.forEach((l, i) => {
    const first = edgeStart[i]!;
    const last = edgeStart[i + 1]! - 1;
    const tensor = links.tensor[l]!;
    if (links.to[l] === group) entryX.set(tensor, bentX(pathX, last, first));
    if (links.from[l] === group) exitX.set(tensor, bentX(pathX, first, last));
  });
  const entry = sorted(inner.entry, entryX);
  const exit = sorted(inner.exit, exitX);
  return isSorted(entry, inner.entry) && isSorted(exit, inner.exit) ? null : { entry, exit };
}

/** x of the nearest point of a path that does not lie straight above or below its end. */
function bentX(pathX: Float64Array, end: number, otherEnd: number): number {
  const step = otherEnd > end ? 1 : -1;
  let i = end;
  while (i !== otherEnd && Math.abs(pathX[i]! - pathX[end]!) < 0.5) i += step;
  return pathX[i]!;
}

function sorted(ports: Map<number, number>, by: Map<number, number>): number[] {
  const at = (tensor: number): number => by.get(tensor) ?? ports.get(tensor)!;
  return [...ports.keys()].sort((a, b) => at(a) - at(b) || ports.get(a)! - ports.get(b)!);
}

function isSorted(tensors: readonly number[], ports: Map<number, number>): boolean {
  return tensors.every((tensor, i) => i === 0 || ports.get(tensors[i - 1]!)! <= ports.get(tensor)!);
}

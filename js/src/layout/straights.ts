/**
 * Straights: boxes one below the other, each alone in its rank, with no line beside them. To all that is done with
 * ranks a straight is one tall box; its boxes are put back by adding up. A model without branches is one straight.
 */

import type { Flow, Shapes } from "./flow.ts";

/** A part whose straights are one box each. */
export interface Shortened {
  boxes: Shapes;
  flow: Flow;
  rank: Int32Array;
  /** How many ranks fewer there are. */
  ranksLeftOut: number;
  /** The box that stands for each box of the whole. */
  boxOf: Int32Array;
  /** The edge of each edge of the whole flow, -1 inside a straight. */
  edgeOf: Int32Array;
  /** The boxes of all straights, downwards, and how far the top of each is below its straight's, in px. */
  members: Int32Array;
  depth: Float64Array;
}

/** In place of the one box of a rank. */
const NONE = -1;
const SEVERAL = -2;

/**
 * Make each straight one box.
 *
 * @param gap between two ranks with one straight line between them, in px
 * @returns null where there is none
 */
export function shortenStraights(
  boxes: Shapes,
  flow: Flow,
  rank: Int32Array,
  gap: number,
): Shortened | null {
  const alone = boxOfRank(boxes, flow, rank);
  const isInside = insideRanks(boxes, flow, alone);
  const rankCount = alone.length;
  const members = new Int32Array(rankCount);
  const depth = new Float64Array(rankCount);
  const newRank = new Int32Array(rankCount);
  const head = new Int32Array(boxes.count).fill(NONE);
  let filled = 0;
  let ranks = 0;
  for (let r = 0; r < rankCount; r++) {
    newRank[r] = ranks++;
    if (isInside[r] !== 1 || isInside[r + 1] !== 1) continue;
    const first = alone[r]!;
    let below = 0;
    for (; isInside[r] === 1; r++) {
      const v = alone[r]!;
      head[v] = first;
      depth[filled] = below;
      members[filled++] = v;
      below += boxes.height[v]! + gap;
    }
    r--;
  }
  if (filled === 0) return null;
  const kept = keptBoxes(boxes, head);
  return {
    ...kept,
    ...shortFlow(flow, kept.boxOf, head),
    rank: pick(rank, kept.ids).map((r) => newRank[r]!),
    boxes: shortBoxes(boxes, kept, head, gap),
    ranksLeftOut: rankCount - ranks,
    members: members.subarray(0, filled),
    depth,
  };
}

/** The box of each rank that it has to itself, no long edge passing by; else NONE or SEVERAL. */
function boxOfRank(boxes: Shapes, flow: Flow, rank: Int32Array): Int32Array {
  let rankCount = 0;
  for (let v = 0; v < boxes.count; v++) if (rank[v]! >= rankCount) rankCount = rank[v]! + 1;
  const alone = new Int32Array(rankCount).fill(NONE);
  for (let v = 0; v < boxes.count; v++) {
    alone[rank[v]!] = alone[rank[v]!] === NONE ? v : SEVERAL;
  }
  const passing = new Int32Array(rankCount + 1);
  for (let f = 0; f < flow.count; f++) {
    const above = rank[flow.from[f]!]!;
    const below = rank[flow.to[f]!]!;
    if (below - above > 1) {
      passing[above + 1]!++;
      passing[below]!--;
    }
  }
  for (let r = 0, lines = 0; r < rankCount; r++) {
    lines += passing[r]!;
    if (lines > 0) alone[r] = SEVERAL;
  }
  return alone;
}

/** 1 for each rank inside a straight: one line leads into its box and one out of it, both straight. */
function insideRanks(boxes: Shapes, flow: Flow, alone: Int32Array): Uint8Array {
  const inputs = new Int32Array(boxes.count);
  const outputs = new Int32Array(boxes.count);
  const isLoose = (port: number): boolean => port === 0 || Number.isNaN(port);
  for (let f = 0; f < flow.count; f++) {
    const from = flow.from[f]!;
    const to = flow.to[f]!;
    const isStraight = !flow.reversed[f] && isLoose(flow.fromPort[f]!) && isLoose(flow.toPort[f]!);
    outputs[from]! += isStraight ? 1 : 2;
    inputs[to]! += isStraight ? 1 : 2;
  }
  const isInside = new Uint8Array(alone.length + 1);
  for (let r = 1; r + 1 < alone.length; r++) {
    const v = alone[r]!;
    if (v >= 0 && alone[r - 1]! >= 0 && alone[r + 1]! >= 0) {
      isInside[r] = inputs[v] === 1 && outputs[v] === 1 && boxes.pin[v] === 0 ? 1 : 0;
    }
  }
  return isInside;
}

interface Kept {
  /** What is left: boxes outside of straights, and the first of each. */
  ids: Int32Array;
  boxOf: Int32Array;
}

function keptBoxes(boxes: Shapes, head: Int32Array): Kept {
  const ids = new Int32Array(boxes.count);
  const boxOf = new Int32Array(boxes.count);
  let count = 0;
  for (let v = 0; v < boxes.count; v++) {
    if (head[v] !== NONE && head[v] !== v) continue;
    boxOf[v] = count;
    ids[count++] = v;
  }
  for (let v = 0; v < boxes.count; v++) if (head[v]! >= 0) boxOf[v] = boxOf[head[v]!]!;
  return { ids: ids.slice(0, count), boxOf };
}

function shortBoxes(boxes: Shapes, { ids, boxOf }: Kept, head: Int32Array, gap: number): Shapes {
  const short: Shapes = {
    count: ids.length,
    left: pick(boxes.left, ids),
    right: pick(boxes.right, ids),
    height: pick(boxes.height, ids),
    pin: pick(boxes.pin, ids),
    byOrder: new Int32Array(ids.length),
  };
  for (let v = 0; v < boxes.count; v++) {
    if (head[v] === NONE || head[v] === v) continue;
    const box = boxOf[v]!;
    short.left[box] = Math.max(short.left[box]!, boxes.left[v]!);
    short.right[box] = Math.max(short.right[box]!, boxes.right[v]!);
    short.height[box]! += gap + boxes.height[v]!;
  }
  let filled = 0;
  for (const v of boxes.byOrder) {
    if (head[v] === NONE || head[v] === v) short.byOrder[filled++] = boxOf[v]!;
  }
  return short;
}

/** The line out of a straight weighs as much as all lines in it, too: the trunk runs through all of them. */
function shortFlow(
  flow: Flow,
  boxOf: Int32Array,
  head: Int32Array,
): Pick<Shortened, "flow" | "edgeOf"> {
  const kept = new Int32Array(flow.count);
  const edgeOf = new Int32Array(flow.count).fill(-1);
  const inside = new Float64Array(head.length);
  let count = 0;
  for (let f = 0; f < flow.count; f++) {
    const first = head[flow.from[f]!]!;
    if (first >= 0 && first === head[flow.to[f]!]) {
      inside[first]! += flow.weight[f]!;
    } else {
      edgeOf[f] = count;
      kept[count++] = f;
    }
  }
  const ids = kept.slice(0, count);
  const short: Flow = {
    ...flow,
    count,
    from: pick(flow.from, ids),
    to: pick(flow.to, ids),
    weight: pick(flow.weight, ids),
    bundle: pick(flow.bundle, ids),
    reversed: pick(flow.reversed, ids),
    fromPort: pick(flow.fromPort, ids),
    toPort: pick(flow.toPort, ids),
  };
  for (let f = 0; f < count; f++) {
    const first = head[short.from[f]!]!;
    if (first >= 0) short.weight[f]! += inside[first]!;
    short.from[f] = boxOf[short.from[f]!]!;
    short.to[f] = boxOf[short.to[f]!]!;
  }
  return { flow: short, edgeOf };
}

function pick<T extends Int32Array | Float64Array | Int8Array | Uint8Array>(
  values: T,
  ids: Int32Array,
): T {
  const picked = values.slice(0, ids.length) as T;
  for (let i = 0; i < ids.length; i++) picked[i] = values[ids[i]!]!;
  return picked;
}

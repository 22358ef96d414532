/**
 * Chooses the main path: the heaviest path. Among equal paths, it is the one nearest to the middle
 * of its ranks.
 */

import { type Boxes, CUT_ABOVE, CUT_BELOW, type Flow } from "./flow.ts";
import type { Proper } from "./proper.ts";

export interface MainPath {
  /** 1 for each vertex (dummies included) on the main path. */
  isOn: Uint8Array;
  /** The main path's segment above and below each vertex, -1 for none. */
  segmentAbove: Int32Array;
  segmentBelow: Int32Array;
}

/** A tensor with more consumers than this is treated as a mask or a table, not as main data. */
const FEW_CONSUMERS = 3;
/** A path through such a tensor must be this many steps longer to win: masks take some ops to make. */
const BROADCAST_PENALTY = 3;
/** A path from the sections above is heavier than any path that begins in this section. */
const FAR_ABOVE = 2 ** 40;

/** If the boxes are a section, the path leads from the cut above to the cut below. */
export function chooseMainPath(boxes: Boxes, flow: Flow, proper: Proper): MainPath {
  const { count, rank, layer, layerStart, position, tap, segmentFrom } = proper;
  const mainPath: MainPath = {
    isOn: new Uint8Array(count),
    segmentAbove: new Int32Array(count).fill(-1),
    segmentBelow: new Int32Array(count).fill(-1),
  };
  const heaviest = new Float64Array(count);
  const top = boxes.pin.indexOf(CUT_ABOVE);
  if (top >= 0) heaviest[top] = FAR_ABOVE;
  const aside = new Float64Array(count);
  const flowAbove = new Int32Array(count).fill(-1);
  const consumers = new Int32Array(flow.bundleCount);
  for (let f = 0; f < flow.count; f++) consumers[flow.bundle[f]!]!++;
  const flowOfTap = new Int32Array(proper.segmentCount).fill(-1);
  for (let f = 0; f < flow.count; f++) if (tap[f]! >= 0) flowOfTap[tap[f]!] = f;

  let end = -1;
  for (const v of layer) {
    if (v >= boxes.count) continue;
    for (let k = proper.upStart[v]!; k < proper.upStart[v + 1]!; k++) {
      const f = flowOfTap[proper.up[k]!]!;
      if (flow.reversed[f]) continue;
      const u = flow.from[f]!;
      const penalty = consumers[flow.bundle[f]!]! > FEW_CONSUMERS ? BROADCAST_PENALTY : 0;
      const weight = Math.max(0, heaviest[u]! - penalty) + flow.weight[f]!;
      if (weight > heaviest[v]! || (weight === heaviest[v] && aside[u]! < aside[v]!)) {
        heaviest[v] = weight;
        aside[v] = aside[u]!;
        flowAbove[v] = f;
      }
    }
    const r = rank[v]!;
    aside[v]! += Math.abs(2 * position[v]! - layerStart[r]! - layerStart[r + 1]! + 1);
    if (
      end < 0 ||
      heaviest[v]! > heaviest[end]! ||
      (heaviest[v] === heaviest[end] && aside[v]! < aside[end]!)
    ) {
      end = v;
    }
  }

  const bottom = boxes.pin.indexOf(CUT_BELOW);
  for (let v = bottom >= 0 ? bottom : end; v >= 0; ) {
    mainPath.isOn[v] = 1;
    const f = flowAbove[v]!;
    if (f < 0) break;
    let segment = tap[f]!;
    let below = v;
    for (;;) {
      const above = segmentFrom[segment]!;
      mainPath.isOn[above] = 1;
      mainPath.segmentAbove[below] = segment;
      mainPath.segmentBelow[above] = segment;
      below = above;
      if (above < boxes.count) break;
      segment = above - boxes.count;
    }
    v = below;
  }
  return mainPath;
}

/**
 * Lays out a tree of open groups. Each group is laid out by itself, inner groups first. Then all
 * are put together.
 */

import { type Adjacency, groupBy } from "./adjacency.ts";
import {
  EDGE_CURVE,
  EDGE_FEEDBACK,
  type NestedGraph,
  type NestedOptions,
  type NestedResult,
} from "./contract.ts";
import { type Frame, layoutGroup } from "./frame.ts";
import { settingsOf } from "./layered/component.ts";
import { PointList } from "./points.ts";
import { ENTRY, EXIT, type Links, splitEdges } from "./split_edges.ts";

/** Lay out the visible tree. */
export function layoutNested(graph: NestedGraph, options: NestedOptions = {}): NestedResult {
  const { itemCount, open, parent } = graph;
  const settings = settingsOf(options);
  const links = splitEdges(graph);
  const linksOf = groupBy(links.group, itemCount + 1);
  const parentOrTop = parent.map((p) => (p < 0 ? itemCount : p));
  const childrenOf = groupBy(parentOrTop, itemCount + 1);
  const frames: Array<Frame | undefined> = new Array(itemCount + 1);
  const scratch = {
    local: new Int32Array(itemCount),
    bundleOf: new Int32Array(itemCount).fill(-1),
  };
  for (let g = itemCount; g >= 0; g--) {
    const group = g === 0 ? itemCount : g - 1; // groups from the last to the first, the top at the end
    if (group < itemCount && !open[group]) continue;
    const own = linksOf.list.subarray(linksOf.start[group]!, linksOf.start[group + 1]!);
    const children = childrenOf.list.subarray(
      childrenOf.start[group]!,
      childrenOf.start[group + 1]!,
    );
    frames[group] = layoutGroup(
      graph,
      group,
      children,
      own,
      links,
      frames,
      settings,
      options,
      scratch,
    );
  }
  return assemble(graph, links, frames, childrenOf);
}

/** Put the finished frames into their parents, and join the paths of edges across frames. */
function assemble(
  graph: NestedGraph,
  links: Links,
  frames: ReadonlyArray<Frame | undefined>,
  childrenOf: Adjacency,
): NestedResult {
  const { itemCount, parent, edgeSource } = graph;
  const x = new Float64Array(itemCount);
  const y = new Float64Array(itemCount);
  const width = graph.width.slice();
  const height = graph.height.slice();
  const onMainPath = new Uint8Array(itemCount);
  // Top left corner of each frame; (0, 0) for the top level.
  const frameX = new Float64Array(itemCount + 1);
  const frameY = new Float64Array(itemCount + 1);
  const placeInParent = new Int32Array(itemCount);
  for (let group = 0; group <= itemCount; group++) {
    for (let k = childrenOf.start[group]!; k < childrenOf.start[group + 1]!; k++) {
      placeInParent[childrenOf.list[k]!] = k - childrenOf.start[group]!;
    }
  }
  for (let item = 0; item < itemCount; item++) {
    const group = parent[item]! < 0 ? itemCount : parent[item]!;
    const outer = frames[group]!;
    const place = placeInParent[item]!;
    const frame = frames[item];
    const anchor = frameX[group]! + outer.left + outer.layout.x[place]!;
    y[item] = frameY[group]! + outer.top + outer.layout.y[place]!;
    x[item] = anchor;
    onMainPath[item] =
      outer.layout.onMainPath[place]! & (group === itemCount ? 1 : onMainPath[group]!);
    if (frame === undefined) continue;
    width[item] = frame.width;
    height[item] = frame.height;
    frameX[item] = anchor - frame.anchor;
    frameY[item] = y[item]! - frame.height / 2;
    x[item] = frameX[item]! + frame.width / 2;
  }

  const placeOfLink = new Int32Array(links.count);
  for (const frame of frames) {
    frame?.links.forEach((l, i) => {
      placeOfLink[l] = i;
    });
  }
  const edgeCount = edgeSource.length;
  const edgeStart = new Int32Array(edgeCount + 1);
  const edgeKind = new Uint8Array(edgeCount);
  let pointCount = 0;
  for (const frame of frames) pointCount += frame?.layout.pathX.length ?? 0;
  const points = new PointList(pointCount + edgeCount);
  for (let e = 0; e < edgeCount; e++) {
    const begin = points.length;
    edgeStart[e] = begin;
    for (let k = links.start[e]!; k < links.start[e + 1]!; k++) {
      const l = links.list[k]!;
      const group = links.group[l]!;
      const frame = frames[group]!;
      const { layout } = frame;
      const at = placeOfLink[l]!;
      const shiftX = frameX[group]! + frame.left;
      const shiftY = frameY[group]! + frame.top;
      const first = layout.edgeStart[at]!;
      const end = layout.edgeStart[at + 1]!;
      const entering = links.from[l] === ENTRY;
      if (points.length > begin) {
        const nextX = shiftX + layout.pathX[first]!;
        const nextY = entering ? frameY[group]! : shiftY + layout.pathY[first]!;
        if (Math.abs(points.y[points.length - 1]! - nextY) > 0.5) {
          const side = entering ? group : links.from[l]!;
          goRound(points, begin, x[side]! + width[side]! / 2, nextX, nextY);
        }
      }
      if (entering) points.extend(begin, shiftX + layout.pathX[first]!, frameY[group]!);
      for (let i = first; i < end; i++) {
        points.extend(begin, shiftX + layout.pathX[i]!, shiftY + layout.pathY[i]!);
      }
      if (links.to[l] === EXIT) {
        points.extend(begin, shiftX + layout.pathX[end - 1]!, frameY[group]! + frame.height);
      }
      const kind = layout.edgeKind[at]!;
      if (kind !== EDGE_CURVE && edgeKind[e] !== EDGE_FEEDBACK) edgeKind[e] = kind;
    }
  }
  edgeStart[edgeCount] = points.length;
  const top = frames[itemCount]!;
  return {
    x,
    y,
    width,
    height,
    totalWidth: top.width,
    totalHeight: top.height,
    edgeStart,
    pathX: points.x.slice(0, points.length),
    pathY: points.y.slice(0, points.length),
    edgeKind,
    onMainPath,
  };
}

/** A feedback edge ends at the far side of a frame. Route it around the frame to the next point. */
function goRound(points: PointList, begin: number, side: number, x: number, y: number): void {
  const last = points.length - 1;
  const fromX = points.x[last]!;
  const fromY = points.y[last]!;
  const out = fromY > y ? 6 : -6;
  points.extend(begin, fromX, fromY + out);
  points.push(side + 8, fromY + out);
  points.push(side + 8, y - out);
  points.push(x, y - out);
}

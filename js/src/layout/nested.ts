/** Lays out a tree of open groups: each group alone, from the inside out, then all together. */

import { groupBy, sortByKey } from "./adjacency.ts";
import { layoutCached } from "./cache.ts";
import {
  EDGE_CURVE,
  EDGE_FEEDBACK,
  type NestedGraph,
  type NestedOptions,
  type NestedResult,
} from "./contract.ts";
import type { Boxes } from "./flow.ts";
import { type BoxLayout, layoutBoxes } from "./layered.ts";
import { ENTRY, EXIT, type Links, liftEdges } from "./lift.ts";
import { type Settings, settingsOf } from "./part.ts";
import { PointList } from "./points.ts";

/** Half the room a line takes where it passes a frame, in px. */
const PORT_PX = 4;
/** An open group is never narrower, in px. */
const LEAST_FRAME_PX = 80;

/** One open group (or the top) after its layout. Its own coordinates start at the frame's top left corner. */
interface Frame {
  layout: BoxLayout;
  width: number;
  height: number;
  /** Where the layout lies in the frame. */
  left: number;
  top: number;
  /** The frame's alignment point: x of its trunk. */
  anchor: number;
  /** Place of each link in the layout's edges is its place in this list. */
  links: Int32Array;
  /** x of the ports, by the tensor that passes. */
  entry: Map<number, number>;
  exit: Map<number, number>;
}

/**
 * Lay out the visible tree.
 *
 * @throws LayoutCancelled when `options.isCancelled` said so.
 */
export function layoutNested(graph: NestedGraph, options: NestedOptions = {}): NestedResult {
  const { itemCount, open, parent } = graph;
  const settings = settingsOf(options);
  const links = liftEdges(graph);
  const linksOf = groupBy(links.group, itemCount + 1);
  const parentOrTop = parent.map((p) => (p < 0 ? itemCount : p));
  const childrenOf = groupBy(parentOrTop, itemCount + 1);
  const frames: Array<Frame | undefined> = new Array(itemCount + 1);
  const scratch = new Int32Array(itemCount);
  for (let g = itemCount; g >= 0; g--) {
    const group = g === 0 ? itemCount : g - 1; // groups from the last to the first, the top at the end
    if (group < itemCount && !open[group]) continue;
    const children = childrenOf.list.subarray(
      childrenOf.start[group]!,
      childrenOf.start[group + 1]!,
    );
    const own = linksOf.list.subarray(linksOf.start[group]!, linksOf.start[group + 1]!);
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

function layoutGroup(
  graph: NestedGraph,
  group: number,
  children: Int32Array,
  own: Int32Array,
  links: Links,
  frames: ReadonlyArray<Frame | undefined>,
  settings: Settings,
  options: NestedOptions,
  scratch: Int32Array,
): Frame {
  const isTop = group === graph.itemCount;
  const entryBox = new Map<number, number>();
  const exitBox = new Map<number, number>();
  let count = children.length;
  for (const l of own) {
    const tensor = links.tensor[l]!;
    if (links.from[l] === ENTRY && !entryBox.has(tensor)) entryBox.set(tensor, count++);
  }
  for (const l of own) if (links.to[l] === EXIT) exitBox.set(links.tensor[l]!, count++);

  const boxes = makeBoxes(graph, children, own, links, frames, entryBox, exitBox, count, scratch);
  const cache = !isTop && (graph.structure?.[group] ?? -1) >= 0 ? options.cache : undefined;
  const layout = cache ? layoutCached(boxes, settings, cache) : layoutBoxes(boxes, settings);

  const padding = isTop ? 0 : (options.groupPaddingPx ?? 16);
  const title = isTop ? 0 : (options.groupTitlePx ?? 22);
  // Lines cross the title's strip upright, and bend below it.
  const top = entryBox.size > 0 ? title : title + padding / 2;
  const bottom = exitBox.size > 0 ? 0 : padding;
  const width = Math.max(layout.width + 2 * padding, isTop ? 0 : LEAST_FRAME_PX);
  const left = (width - layout.width) / 2;
  const portX = (boxOf: Map<number, number>): Map<number, number> => {
    const at = new Map<number, number>();
    for (const [tensor, box] of boxOf) at.set(tensor, left + layout.x[box]!);
    return at;
  };
  return {
    layout,
    width,
    height: top + layout.height + bottom,
    left,
    top,
    anchor: count > 0 ? left + layout.trunkX : width / 2,
    links: own,
    entry: portX(entryBox),
    exit: portX(exitBox),
  };
}

function makeBoxes(
  graph: NestedGraph,
  children: Int32Array,
  own: Int32Array,
  links: Links,
  frames: ReadonlyArray<Frame | undefined>,
  entryBox: Map<number, number>,
  exitBox: Map<number, number>,
  count: number,
  local: Int32Array,
): Boxes {
  const left = new Float64Array(count).fill(PORT_PX);
  const right = new Float64Array(count).fill(PORT_PX);
  const height = new Float64Array(count);
  const pin = new Int8Array(count);
  for (const box of entryBox.values()) pin[box] = -1;
  for (const box of exitBox.values()) pin[box] = 1;
  const time = new Float64Array(count);
  for (let i = 0; i < children.length; i++) {
    const item = children[i]!;
    const frame = frames[item];
    local[item] = i;
    left[i] = frame ? frame.anchor : graph.width[item]! / 2;
    right[i] = frame ? frame.width - frame.anchor : graph.width[item]! / 2;
    height[i] = frame ? frame.height : graph.height[item]!;
    time[i] = graph.order?.[item] ?? item;
  }
  for (let i = children.length; i < count; i++) {
    time[i] = pin[i] === -1 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  const byOrder = new Int32Array(count);
  for (let i = 0; i < count; i++) byOrder[i] = i;
  sortByKey(byOrder, 0, count, time, byOrder.slice());

  const edgeCount = own.length;
  const boxes: Boxes = {
    count,
    left,
    right,
    height,
    pin,
    byOrder,
    source: new Int32Array(edgeCount),
    target: new Int32Array(edgeCount),
    weight: new Float64Array(edgeCount),
    bundle: new Int32Array(edgeCount),
    bundleCount: 0,
    sourcePort: new Float64Array(edgeCount).fill(Number.NaN),
    targetPort: new Float64Array(edgeCount).fill(Number.NaN),
  };
  const bundles = new Map<number, number>();
  for (let i = 0; i < edgeCount; i++) {
    const l = own[i]!;
    const tensor = links.tensor[l]!;
    const from = links.from[l]!;
    const to = links.to[l]!;
    boxes.source[i] = from === ENTRY ? entryBox.get(tensor)! : local[from]!;
    boxes.target[i] = to === EXIT ? exitBox.get(tensor)! : local[to]!;
    boxes.weight[i] = links.weight[l]!;
    const source = from === ENTRY ? undefined : frames[from];
    const target = to === EXIT ? undefined : frames[to];
    if (source) boxes.sourcePort[i] = source.exit.get(tensor)! - source.anchor;
    if (target) boxes.targetPort[i] = target.entry.get(tensor)! - target.anchor;
    let bundle = bundles.get(tensor);
    if (bundle === undefined) {
      bundle = bundles.size;
      bundles.set(tensor, bundle);
    }
    boxes.bundle[i] = bundle;
  }
  boxes.bundleCount = bundles.size;
  return boxes;
}

/** Put the frames into each other and join the links of each edge. */
function assemble(
  graph: NestedGraph,
  links: Links,
  frames: ReadonlyArray<Frame | undefined>,
  childrenOf: { start: Int32Array; list: Int32Array },
): NestedResult {
  const { itemCount, parent, edgeSource } = graph;
  const x = new Float64Array(itemCount);
  const y = new Float64Array(itemCount);
  const width = graph.width.slice();
  const height = graph.height.slice();
  const trunk = new Uint8Array(itemCount);
  // Top left corner of each frame; the top's is 0, 0.
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
    trunk[item] = outer.layout.trunk[place]! & (group === itemCount ? 1 : trunk[group]!);
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
  const points = new PointList();
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
    trunk,
  };
}

/** A feedback edge arrives at the far side of a frame: lead it round to where it goes on. */
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

/** Lays out one open group: its children, and ports where lines pass the frame. */

import { sortByKey } from "./adjacency.ts";
import { contentKey } from "./cache.ts";
import type { LayoutCache, NestedGraph, NestedOptions } from "./contract.ts";
import type { Settings } from "./layered/component.ts";
import type { Boxes } from "./layered/flow.ts";
import { type BoxLayout, layoutBoxes } from "./layered/layered.ts";
import { ENTRY, EXIT, type Links } from "./split_edges.ts";

/** Half of the width that an edge needs where the edge crosses a frame, in px. */
const PORT_PX = 4;
/** The least width of an open group, in px. */
const LEAST_FRAME_PX = 80;

/** A full cache is emptied; the next layout adds the visible groups again. */
const MOST_ENTRIES = 2000;

/** One open group (or the top) after its layout. Its own coordinates start at the frame's top left corner. */
export interface Frame {
  layout: BoxLayout;
  width: number;
  height: number;
  /** Position of the layout in the frame. */
  left: number;
  top: number;
  /** The x of the frame's main path. Frames are aligned at this x. */
  anchor: number;
  /** Keys of the links; a link and its edge in the layout have the same index. */
  links: Int32Array;
  /** The x of each port, by the tensor that passes through the port. */
  entry: Map<number, number>;
  exit: Map<number, number>;
}

/** A number for each item; the arrays are reused for each group. */
export interface Scratch {
  /** Position among the children of the current group. */
  local: Int32Array;
  /** Bundle of the tensor that the item makes; -1 between two groups. */
  bundleOf: Int32Array;
}

export function layoutGroup(
  graph: NestedGraph,
  group: number,
  children: Int32Array,
  own: Int32Array,
  links: Links,
  frames: ReadonlyArray<Frame | undefined>,
  settings: Settings,
  options: NestedOptions,
  scratch: Scratch,
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
  const cache = isTop ? undefined : options.cache;
  const layout = cache ? layoutCached(boxes, settings, cache) : layoutBoxes(boxes, settings);

  const padding = isTop ? 0 : (options.groupPaddingPx ?? 16);
  const title = isTop ? 0 : (options.groupTitlePx ?? 22);
  // Lines cross the strip of the title vertically, and bend below the strip.
  const top = entryBox.size > 0 ? title : title + padding / 2;
  const bottom = exitBox.size > 0 ? 0 : padding;
  const least = isTop ? 0 : Math.max(LEAST_FRAME_PX, graph.width[group]!);
  const width = Math.max(layout.width + 2 * padding, least);
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
    anchor: count > 0 ? left + layout.mainPathX : width / 2,
    links: own,
    entry: portX(entryBox),
    exit: portX(exitBox),
  };
}

/** Reuse a group's layout for groups with equal content. */
function layoutCached(boxes: Boxes, settings: Settings, cache: LayoutCache): BoxLayout {
  const key = contentKey(boxes, settings);
  const known = cache.get(key) as BoxLayout | undefined;
  if (known) return known;
  const layout = layoutBoxes(boxes, settings);
  if (cache.size >= MOST_ENTRIES) cache.clear();
  cache.set(key, layout);
  return layout;
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
  { local, bundleOf }: Scratch,
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
    right[i] = frame ? frame.width - frame.anchor : (graph.right?.[item] ?? graph.width[item]! / 2);
    height[i] = frame ? frame.height : graph.height[item]!;
    time[i] = graph.order?.[item] ?? item;
  }
  for (let i = children.length; i < count; i++) {
    time[i] = pin[i] === -1 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  const byOrder = new Int32Array(count);
  for (let i = 0; i < count; i++) byOrder[i] = i;
  sortByKey(byOrder, 0, count, time);

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
    if (bundleOf[tensor]! < 0) bundleOf[tensor] = boxes.bundleCount++;
    boxes.bundle[i] = bundleOf[tensor]!;
  }
  for (let i = 0; i < edgeCount; i++) bundleOf[links.tensor[own[i]!]!] = -1;
  return boxes;
}

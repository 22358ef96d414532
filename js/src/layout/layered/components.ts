/** Splits a graph into connected components and long components into sections; packs layouts side by side. */

import { type Boxes, makeFlow } from "./flow.ts";
import { rankBoxes } from "./rank.ts";

/** @returns the component's number of each node; components are in the order of their first node. */
export function connectedComponents(
  nodeCount: number,
  source: Int32Array,
  target: Int32Array,
  byOrder: Int32Array,
): { component: Int32Array; count: number } {
  const parent = new Int32Array(nodeCount);
  for (let v = 0; v < nodeCount; v++) parent[v] = v;
  const find = (node: number): number => {
    let v = node;
    while (parent[v] !== v) {
      parent[v] = parent[parent[v]!]!;
      v = parent[v]!;
    }
    return v;
  };
  for (let e = 0; e < source.length; e++) {
    const a = find(source[e]!);
    const b = find(target[e]!);
    if (a !== b) parent[Math.max(a, b)] = Math.min(a, b);
  }
  const component = new Int32Array(nodeCount).fill(-1);
  const ofRoot = new Int32Array(nodeCount).fill(-1);
  let count = 0;
  for (const v of byOrder) {
    const root = find(v);
    if (ofRoot[root] === -1) ofRoot[root] = count++;
    component[v] = ofRoot[root]!;
  }
  return { component, count };
}

/** A box at a cut is in the section that it ends and in the one that it begins. */
export interface Section {
  nodes: number[];
  edges: number[];
  /** The box at which the section begins, -1 for the first one. */
  top: number;
}

/** A section has at least this many boxes, except the last one. */
const FEWEST_BOXES = 32;

/** Cut a part at boxes that every path passes, such as the sums between the blocks of a model. */
export function cutIntoSections(boxes: Boxes): Section[] {
  const { count, from, to, reversed } = makeFlow(boxes);
  const hasCycles = reversed.includes(1); // in a section, other edges might be reversed
  const rank = rankBoxes(boxes, { count, from, to });
  const last = rank.reduce((most, r) => Math.max(most, r), 0);
  const size = new Int32Array(last + 1);
  const anyOf = new Int32Array(last + 1); // a box of each rank
  rank.forEach((r, v) => {
    size[r]!++;
    anyOf[r] = v;
  });
  const passing = new Int32Array(last + 2);
  for (let f = 0; f < count; f++) {
    passing[rank[from[f]!]! + 1]!++;
    passing[rank[to[f]!]!]!--;
  }
  const sections: Section[] = [{ nodes: [], edges: [], top: -1 }];
  const sectionOf = new Int32Array(last + 1);
  for (let r = 0, since = 0, open = 0; r <= last; r++) {
    open += passing[r]!;
    if (open === 0 && size[r] === 1 && since >= FEWEST_BOXES && r < last && !hasCycles) {
      sections.push({ nodes: [], edges: [], top: anyOf[r]! });
      since = 0;
    }
    sectionOf[r] = sections.length - 1;
    since += size[r]!;
  }
  for (let v = 0; v < boxes.count; v++) {
    const section = sectionOf[rank[v]!]!;
    sections[section]!.nodes.push(v);
    if (sections[section]!.top === v) sections[section - 1]!.nodes.push(v);
  }
  boxes.source.forEach((source, e) => {
    const upper = Math.min(rank[source]!, rank[boxes.target[e]!]!);
    sections[sectionOf[upper]!]!.edges.push(e);
  });
  return sections;
}

export interface Tile {
  width: number;
  height: number;
  x: number;
  y: number;
  /** Whether the tile touches the frame's top or bottom. No tile may then be above or below it. */
  pinned: boolean;
}

/** Place tiles in rows, from left to right, so that the whole is about 3 : 2; sets each x and y. */
export function packTiles(tiles: Tile[], gap: number): { width: number; height: number } {
  let x = 0;
  let height = 0;
  for (const tile of tiles) {
    if (!tile.pinned) continue;
    tile.x = x;
    tile.y = 0;
    x += tile.width + gap;
    height = Math.max(height, tile.height);
  }
  const loose = tiles.filter((tile) => !tile.pinned);
  let area = 0;
  let widest = 0;
  for (const tile of loose) {
    area += (tile.width + gap) * (tile.height + gap);
    widest = Math.max(widest, tile.width);
  }
  // The width of a 3 : 2 picture with this area.
  const rowWidth = Math.max(widest, Math.sqrt(1.5 * area));
  const left = x;
  let width = Math.max(0, x - gap);
  let rowTop = 0;
  let rowHeight = 0;
  for (const tile of loose) {
    if (x > left && x + tile.width > left + rowWidth) {
      x = left;
      rowTop += rowHeight + gap;
      rowHeight = 0;
    }
    tile.x = x;
    tile.y = rowTop;
    x += tile.width + gap;
    rowHeight = Math.max(rowHeight, tile.height);
    width = Math.max(width, x - gap);
    height = Math.max(height, rowTop + rowHeight);
  }
  return { width, height };
}

/** Splits a graph into connected components, and packs their layouts side by side. */

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

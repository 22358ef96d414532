/** The layout's input and output. Sizes and positions are in px; y grows downwards, data flows down. */

/** An edge in the direction of flow. `traceEdge` draws edges of all kinds. */
export const EDGE_CURVE = 0;
/** An edge over very many ranks: orthogonal, in a lane next to the picture. */
export const EDGE_LANE = 1;
/** An edge against the flow (part of a cycle), or a self loop. */
export const EDGE_FEEDBACK = 2;

export interface EdgePaths {
  /** The points of edge i are [edgeStart[i], edgeStart[i + 1]) of pathX and pathY, from source to target. */
  edgeStart: Int32Array;
  pathX: Float64Array;
  pathY: Float64Array;
  /** EDGE_CURVE, EDGE_LANE or EDGE_FEEDBACK. It affects only the style; the points are the whole shape. */
  edgeKind: Uint8Array;
}

export interface LayoutOptions {
  /** Least distance between two nodes of a rank. Default 24. */
  nodeGap?: number;
  /** Least distance between two ranks. Default 32. */
  rankGap?: number;
  /** Distance between two lanes, or between two edges that run side by side. Default 12. */
  laneGap?: number;
  /**
   * An edge over more ranks than this runs in a side lane. Default 200, or less in a graph with
   * very many long edges.
   */
  laneSpan?: number;
}

/** The visible tree: item i is a box (a leaf or a closed group) or an open group. Parents come before children. */
export interface NestedGraph {
  itemCount: number;
  /** Parent item, -1 at the top. */
  parent: Int32Array;
  /** 1 for an open group. Its content determines its size; the given width is the minimum. */
  open: Uint8Array;
  width: Float64Array;
  height: Float64Array;
  /** Room to the right of each box's centre; half of the width if not given. */
  right?: Float64Array;
  /** Edges between items that are not open groups, at any depth. */
  edgeSource: Int32Array;
  edgeTarget: Int32Array;
  order?: Int32Array;
}

export interface NestedResult extends EdgePaths {
  /** Centre and size of each item, including frames of open groups. */
  x: Float64Array;
  y: Float64Array;
  width: Float64Array;
  height: Float64Array;
  totalWidth: number;
  totalHeight: number;
  onMainPath: Uint8Array;
}

export interface NestedOptions extends LayoutOptions {
  /** The distance between the frame of a group and the content. Default 16. */
  groupPaddingPx?: number;
  /** Height of the strip at the top of a frame that holds the group's name. Default 22. */
  groupTitlePx?: number;
  /** Layouts by content. The caller keeps this map between calls. */
  cache?: LayoutCache;
}

/** Finished layouts of groups by content, at first `new Map()`. It may be cleared at any time. */
export type LayoutCache = Map<string, unknown>;

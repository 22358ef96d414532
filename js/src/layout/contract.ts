/** What the layout takes and gives. All sizes and positions are in px; y grows downwards, data flows down. */

/** Kinds of edge. `traceEdge` draws the path of any of them. An edge of the flow: */
export const EDGE_CURVE = 0;
/** An edge over very many ranks: orthogonal, in a lane beside the picture. */
export const EDGE_LANE = 1;
/** An edge against the flow (part of a cycle), or a self loop. */
export const EDGE_FEEDBACK = 2;

export interface EdgePaths {
  /** The points of edge i are [edgeStart[i], edgeStart[i + 1]) of pathX and pathY, from source to target. */
  edgeStart: Int32Array;
  pathX: Float64Array;
  pathY: Float64Array;
  /** EDGE_CURVE, EDGE_LANE or EDGE_FEEDBACK: a matter of style; the points say all about the shape. */
  edgeKind: Uint8Array;
}

export interface LayoutOptions {
  /** Least distance between two nodes of a rank. Default 24. */
  nodeGap?: number;
  /** Least distance between two ranks. Default 32. */
  rankGap?: number;
  /** Distance between two lanes, or between two edges that run side by side. Default 12. */
  laneGap?: number;
  /** Edges over more ranks than this go to a side lane. Default 200, less where the graph has very many. */
  laneSpan?: number;
}

/** The visible tree: item i is a box (a leaf or a closed group) or an open group. Parents come before children. */
export interface NestedGraph {
  itemCount: number;
  /** Parent item, -1 at the top. */
  parent: Int32Array;
  /** 1 where the item is an open group: its size follows from its content; its width here is the least it may have. */
  open: Uint8Array;
  width: Float64Array;
  height: Float64Array;
  /** Edges between items that are not open groups, at any depth. */
  edgeSource: Int32Array;
  edgeTarget: Int32Array;
  order?: Int32Array;
}

export interface NestedResult extends EdgePaths {
  /** Centre and size of each item, frames of open groups included. */
  x: Float64Array;
  y: Float64Array;
  width: Float64Array;
  height: Float64Array;
  totalWidth: number;
  totalHeight: number;
  onMainPath: Uint8Array;
}

export interface NestedOptions extends LayoutOptions {
  /** Distance between a group's frame and its content. Default 16. */
  groupPaddingPx?: number;
  /** Height of the strip at the top of a frame that holds the group's name. Default 22. */
  groupTitlePx?: number;
  /** Layouts by content, kept by the caller from one call to the next. */
  cache?: LayoutCache;
}

/** Finished layouts of groups by their content. Make one with `new Map()`; clear it at will. */
export type LayoutCache = Map<string, unknown>;

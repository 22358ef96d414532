/** A scene: the drawn parts in world px, from which the canvas and the exported picture are made. */

export type BoxKind =
  | "op"
  | "group"
  | "fold"
  | "pylayer"
  | "grad_node"
  | "leaf"
  | "parameter"
  | "ghost";
export type Phase = "forward" | "backward" | "optimizer";

export interface SceneChip {
  readonly label: string;
  readonly tensor: number;
  /**
   * A tensor kind of the protocol: "parameter", "buffer", "external"; "leaf" for a grad leaf,
   * "more" for tensors without room, "refold" for the chip that folds a run again.
   */
  readonly kind: string;
  /** The centre, relative to the box's centre, and the size. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface SceneBox {
  /** Centre. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly label: string;
  /** Secondary text in the box, "" for none. */
  readonly sublabel: string;
  readonly kind: BoxKind;
  readonly phase: Phase;
  /** Keys of the rows that the box represents, -1 for none. */
  readonly op: number;
  readonly gradNode: number;
  /** The group; for a fold, the first member. */
  readonly group: number;
  readonly tensor: number;
  readonly chips: readonly SceneChip[];
  readonly state: "normal" | "raised" | "in_place";
  /** The id of the visible item. The id stays the same from one scene to the next. */
  readonly id: string;
}

export interface SceneFrame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly subtitle: string;
  readonly group: number;
  readonly kind:
    | "layer"
    | "region"
    | "pylayer"
    | "backward"
    | "optimizer"
    | "call"
    | "turn"
    | "block";
  readonly side: Side;
  readonly depth: number;
  /** "×12" if the frame begins an unfolded run, which can be folded there; else "". */
  readonly refold: string;
  readonly id: string;
}

/** A side of a ladder. In other modes, the whole graph is one side. */
export type Side = "forward" | "backward";

export type EdgeKind = "data" | "detach" | "lane" | "feedback" | "gradient";

export interface SceneEdge {
  /** Points from source to target; `layout/curve.ts` draws them. */
  readonly pathX: ArrayLike<number>;
  readonly pathY: ArrayLike<number>;
  readonly kind: EdgeKind;
  readonly phase: Phase;
  /** Shape of the tensor, "" for none. */
  readonly label: string;
  readonly tensor: number;
  /** Rows of `grad_edges` that this line represents; empty for tensors. */
  readonly gradEdges: readonly number[];
  /** How many tensors this line represents. */
  readonly count: number;
  /** Positions in `boxes`. */
  readonly source: number;
  readonly target: number;
}

/** Text that belongs to no box: column heads, notes. */
export interface SceneLabel {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly align: "start" | "middle" | "end";
  readonly tone: "ink" | "soft" | "warn" | Phase;
}

/** A horizontal extent, in world px. */
export interface Reach {
  readonly left: number;
  readonly right: number;
}

export interface Scene {
  readonly width: number;
  readonly height: number;
  /** X to put in the middle of the view at first, if the scene is wider than the view. */
  readonly focusX: number;
  /** Horizontal extents of the picture's main parts, outermost first. */
  readonly mains: readonly Reach[];
  readonly boxes: readonly SceneBox[];
  readonly frames: readonly SceneFrame[];
  readonly edges: readonly SceneEdge[];
  readonly labels: readonly SceneLabel[];
  /** Faint horizontal lines between the paired boxes of a ladder: the x of both ends, and y. */
  readonly rungs: readonly { readonly fromX: number; readonly toX: number; readonly y: number }[];
}

export const EMPTY_SCENE: Scene = {
  width: 0,
  height: 0,
  focusX: 0,
  mains: [],
  boxes: [],
  frames: [],
  edges: [],
  labels: [],
  rungs: [],
};

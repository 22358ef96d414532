/** What the user has chosen to show. */

export type Selection =
  | { kind: "none" }
  | { kind: "op"; op: number }
  | { kind: "grad_node"; gradNode: number }
  | { kind: "group"; group: number }
  /** The tensor of an edge or a chip. */
  | { kind: "tensor"; tensor: number }
  /** A row of `grad_edges`. `beside` has the other rows for which the same line is drawn. */
  | { kind: "gradient"; edge: number; beside: readonly number[] }
  /** `file` is a position in `strings`, as in `frames.file`. `line` counts from 1. */
  | { kind: "line"; file: number; line: number }
  /** A row of `allocations`. In the graph this selects the block's grad node, op or tensor. */
  | { kind: "allocation"; allocation: number };

/**
 * Which part of the graph remains. `neighbours` is the selection's layer and the ops connected to
 * it.
 */
export type Way = "ancestors" | "descendants" | "between" | "neighbours";

/** A part of the graph. Everything else is hidden. */
export interface Isolation {
  readonly way: Way;
  readonly from: Selection;
  /** The second end, only for `between`. */
  readonly to: Selection;
  /** Whether the part was found along gradients. Then its ops are the ops of its grad nodes. */
  readonly isBackward: boolean;
  /** 1 for each op and each grad node that remains. */
  readonly ops: Uint8Array;
  readonly gradNodes: Uint8Array;
  /** 1 for each group with hidden content. */
  readonly isPart: Uint8Array;
  /** The groups that were open before. */
  readonly before: Pick<ViewState, "open" | "unfolded" | "taken">;
}

/** `memory` shows a timeline instead of a graph, `table` a table, `time` an icicle plot. */
export type Mode = "forward" | "backward" | "ladder" | "memory" | "table" | "time";

/** Whether a mode shows a graph. */
export function isGraph(mode: Mode): mode is "forward" | "backward" | "ladder" {
  return mode === "forward" || mode === "backward" || mode === "ladder";
}

/** The quantities by which boxes can be coloured. */
export const COLOURINGS = [
  "difference",
  "time",
  "flops",
  "output_bytes",
  "saved_bytes",
  "parameters",
  "dtype",
  "gradient_norm",
  "nan_share",
] as const;
export type Colouring = (typeof COLOURINGS)[number];

export interface ViewState {
  readonly mode: Mode;
  /** The backward call whose graph is shown; -1 for none. */
  readonly backwardCall: number;
  readonly selection: Selection;
  /** Keys of open groups. Each change replaces the whole set. */
  readonly open: ReadonlySet<number>;
  /** Runs that are shown as single members, by their first group. */
  readonly unfolded: ReadonlySet<number>;
  /**
   * Members that are taken out of a folded run. Each has a separate box next to the box of the
   * others.
   */
  readonly taken: ReadonlySet<number>;
  readonly isolation: Isolation | undefined;
  /** The first end of a path while the user chooses the second end; otherwise none. */
  readonly wayFrom: Selection;
  readonly showParameters: boolean;
  readonly showOptimizer: boolean;
  readonly showShapes: boolean;
  /** Whether the gradients' norms are shown on the edges of the backward graph. */
  readonly showNorms: boolean;
  readonly colourBy: Colouring | "none";
  readonly query: string;
  /** The ops that the search found: keys in execution order. */
  readonly matches: readonly number[];
  readonly panelOpen: boolean;
  readonly outlineOpen: boolean;
  /**
   * The key of the finding that is shown above the graph, with its path in the graph; -1 for none.
   */
  readonly finding: number;
  readonly findingsShown: FindingsShown;
}

/** Whether one sentence, all sentences, or only the number of findings is shown. */
export type FindingsShown = "one" | "all" | "count";

/** What the user has chosen to see. */

export type Selection =
  | { kind: "none" }
  | { kind: "op"; op: number }
  | { kind: "grad_node"; gradNode: number }
  | { kind: "group"; group: number }
  /** An edge or a chip. */
  | { kind: "tensor"; tensor: number }
  /** An edge of the backward graph: a row of `grad_edges`, and other rows that its line shows. */
  | { kind: "gradient"; edge: number; beside: readonly number[] }
  /** `file` is a string code, as in `frames.file`; `line` counts from 1. */
  | { kind: "line"; file: number; line: number }
  /** A block of memory: a row of `allocations`. In the graph it is its grad node, op or tensor. */
  | { kind: "allocation"; allocation: number };

/** Which part of the graph is left, seen from a selection. `neighbours`: its layer with them. */
export type Way = "ancestors" | "descendants" | "between" | "neighbours";

/** A part of the graph; all else is hidden. */
export interface Isolation {
  readonly way: Way;
  readonly from: Selection;
  /** The other end of `between`; for the other ways none. */
  readonly to: Selection;
  /** Whether it was found along the gradients; the ops are then those of the grad nodes. */
  readonly isBackward: boolean;
  /** 1 for each op and each grad node that is left. */
  readonly ops: Uint8Array;
  readonly gradNodes: Uint8Array;
  /** 1 for each group of which something is hidden. */
  readonly isPart: Uint8Array;
  /** What was open before. */
  readonly before: Pick<ViewState, "open" | "unfolded" | "taken">;
}

/** `memory` shows a timeline in place of a graph, `table` a table, `time` an icicle. */
export type Mode = "forward" | "backward" | "ladder" | "memory" | "table" | "time";

/** Whether a mode shows a graph. */
export function isGraph(mode: Mode): boolean {
  return mode === "forward" || mode === "backward" || mode === "ladder";
}

/** What the boxes can be coloured by. */
export const COLOURINGS = [
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
  /** Which backward call's graph is shown; -1 where there is none. */
  readonly backwardCall: number;
  readonly selection: Selection;
  /** Keys of open groups; replaced as a whole when it changes. */
  readonly open: ReadonlySet<number>;
  /** Runs of repeated groups that are shown member by member, each by its first group. */
  readonly unfolded: ReadonlySet<number>;
  /** Members taken out of a folded run: each has a box of its own, beside the box of the other members. */
  readonly taken: ReadonlySet<number>;
  readonly isolation: Isolation | undefined;
  /** The first end of a way whose second end is to be chosen next; none while no end is chosen. */
  readonly wayFrom: Selection;
  readonly showParameters: boolean;
  readonly showOptimizer: boolean;
  readonly showShapes: boolean;
  /** The gradients' norms on the edges of the backward graph, where they were recorded. */
  readonly showNorms: boolean;
  readonly colourBy: Colouring | "none";
  readonly query: string;
  /** What the search found: op keys in execution order. */
  readonly matches: readonly number[];
  readonly panelOpen: boolean;
  readonly outlineOpen: boolean;
  /** Key of the finding that is shown above the graph, and whose path is drawn; -1 for none. */
  readonly finding: number;
  readonly findingsShown: FindingsShown;
}

/** One sentence, all of them below it, or only how many there are. */
export type FindingsShown = "one" | "all" | "count";

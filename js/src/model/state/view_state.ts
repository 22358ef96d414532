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

/** `memory` shows a timeline in place of a graph. */
export type Mode = "forward" | "backward" | "ladder" | "memory";

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
  readonly showParameters: boolean;
  readonly showOptimizer: boolean;
  readonly showShapes: boolean;
  /** The gradients' norms on the edges of the backward graph, where they were recorded. */
  readonly showNorms: boolean;
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

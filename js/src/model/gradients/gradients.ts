/** The recorded statistics of the gradients on each edge of the backward graph. */

import { type Column, floats } from "../../trace/columns.ts";
import { RowsByKey } from "../../trace/csr.ts";
import type { Trace } from "../../trace/trace.ts";
import { callsInside } from "./backward_calls.ts";

/** The norm of a gradient, or of several gradients combined. */
export interface GradientNorm {
  /** The norm over the finite values. */
  readonly norm: number;
  readonly nans: number;
  readonly infs: number;
}

/** The range of norms in decades (floor(log10)), which determines colours and widths of lines. */
export interface NormRange {
  readonly least: number;
  readonly most: number;
}

export class Gradients {
  readonly #trace: Trace;
  readonly #ofEdge: RowsByKey;
  readonly #began: RowsByKey;
  readonly #call: Column;
  readonly #floats = new Map<string, Float32Array>();
  readonly #ranges = new Map<number, NormRange | undefined>();
  /** Norms, keyed by the edges of a drawn line. They are needed at every repaint. */
  readonly #norms = new WeakMap<
    readonly number[],
    { backwardCall: number; norm: GradientNorm | undefined }
  >();

  constructor(trace: Trace) {
    this.#trace = trace;
    const stats = trace.table("grad_stats");
    const edge = stats.column("grad_edge");
    this.#call = stats.column("backward_call");
    this.#ofEdge = RowsByKey.index(edge, trace.table("grad_edges").length);
    const withoutEdge = { column: edge, value: -1 };
    this.#began = RowsByKey.index(stats.column("grad_node"), trace.gradNodeCount, withoutEdge);
  }

  get isRecorded(): boolean {
    return this.#call.length > 0;
  }

  /** Rows of `grad_stats` for an edge, in execution order. */
  ofEdge(edge: number): Int32Array {
    return this.#ofEdge.of(edge);
  }

  /** Rows of `grad_stats` for the gradients with which backward calls began at a grad node. */
  beganAt(gradNode: number): Int32Array {
    return this.#began.of(gradNode);
  }

  /**
   * The row of an edge in a backward call, -1 for none. If the edge ran twice, this is the last
   * row.
   */
  ofEdgeIn(edge: number, backwardCall: number): number {
    const isInside = callsInside(this.#trace, backwardCall);
    return this.#ofEdge.of(edge).findLast((row) => isInside[this.#call[row]!]) ?? -1;
  }

  value(column: "smallest" | "largest" | "mean" | "norm", row: number): number {
    let values = this.#floats.get(column);
    if (!values) {
      values = floats(this.#trace.table("grad_stats").column(column));
      this.#floats.set(column, values);
    }
    return values[row]!;
  }

  /** The combined norm of the gradients on several edges; undefined if none was recorded. */
  normOf(edges: readonly number[], backwardCall: number): GradientNorm | undefined {
    let known = this.#norms.get(edges);
    if (known?.backwardCall !== backwardCall) {
      known = { backwardCall, norm: this.#sum(edges, backwardCall) };
      this.#norms.set(edges, known);
    }
    return known.norm;
  }

  #sum(edges: readonly number[], backwardCall: number): GradientNorm | undefined {
    let squares = 0;
    let nans = 0;
    let infs = 0;
    let isKnown = false;
    for (const edge of edges) {
      const row = this.ofEdgeIn(edge, backwardCall);
      if (row >= 0) {
        isKnown = true;
        squares += this.value("norm", row) ** 2;
        nans += this.#trace.at("grad_stats", "nans", row);
        infs += this.#trace.at("grad_stats", "infs", row);
      }
    }
    return isKnown ? { norm: Math.sqrt(squares), nans, infs } : undefined;
  }

  /** The range of the norms of a backward call; undefined if the call has no norms. */
  range(backwardCall: number): NormRange | undefined {
    if (!this.#ranges.has(backwardCall)) {
      this.#ranges.set(backwardCall, this.#rangeOf(backwardCall));
    }
    return this.#ranges.get(backwardCall);
  }

  #rangeOf(backwardCall: number): NormRange | undefined {
    let least = Infinity;
    let most = -Infinity;
    const isInside = callsInside(this.#trace, backwardCall);
    for (let row = 0; row < this.#call.length; row++) {
      const norm = isInside[this.#call[row]!] ? this.value("norm", row) : 0;
      if (norm > 0) {
        least = Math.min(least, Math.floor(Math.log10(norm)));
        most = Math.max(most, Math.floor(Math.log10(norm)));
      }
    }
    return most < least ? undefined : { least, most };
  }
}

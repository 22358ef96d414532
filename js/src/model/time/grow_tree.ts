/**
 * Makes a tree of boxes from the spans of a thread. Equal siblings share a box. The time between
 * spans also has boxes.
 */

import type { Column } from "../../trace/columns.ts";
import { BACKWARD_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { kernelSpans } from "./kernel_spans.ts";
import { commonPlace, type Places } from "./places.ts";
import { CELL_THREAD, ownOf, type Spans, spansOf, wallOf } from "./spans.ts";
import { BOX_KINDS, type BoxKind, TimeTree } from "./time_tree.ts";

type LeafKind = Extract<BoxKind, "op" | "backward" | "grad_node" | "other">;

export interface GrownTree {
  readonly tree: TimeTree;
  readonly spans: Spans;
  /** The box of each span. */
  readonly boxOfSpan: Int32Array;
  /** The box of each place, -1 for none. */
  readonly boxOfPlace: Int32Array;
}

/**
 * The root of the cell's thread lasts as long as the cell. The root of another thread lasts from
 * its first op to its last op. A gap between two spans belongs to the innermost place that contains
 * both.
 */
export function growTree(trace: Trace, places: Places, thread: number): GrownTree {
  const spans = spansOf(trace, thread);
  const grower = new Grower(trace, places, new TimeTree(), spans);
  const begin_ns = thread === CELL_THREAD ? 0 : (spans.start_ns[0] ?? 0);
  let until_ns = begin_ns;
  let outer = -1;
  let own_ns = 0;
  /** The trace's own work since the last span for which it is known. */
  const ownUntil = (now_ns: number): number => {
    if (now_ns < 0) return 0;
    const since_ns = Math.max(0, now_ns - own_ns);
    own_ns = now_ns;
    return since_ns;
  };
  for (let span = 0; span < spans.length; span++) {
    const since_ns = ownUntil(spans.own_ns[span]!);
    if (spans.parent[span]! < 0) {
      const gap_ns = spans.start_ns[span]! - until_ns;
      if (gap_ns > 0) grower.addGap(outer, span, gap_ns, since_ns);
      until_ns = Math.max(until_ns, spans.end_ns[span]!);
      outer = span;
    }
    grower.addSpan(span);
  }
  const rest_ns = thread === CELL_THREAD ? wallOf(trace, spans) - until_ns : 0;
  if (rest_ns > 0) grower.addGap(outer, spans.length, rest_ns, ownUntil(ownOf(trace)));
  return grower.finish();
}

/** The tree of the kernels of ops and grad nodes. Equal ones in the same place share a box. */
export function growKernels(trace: Trace, places: Places): GrownTree {
  const spans = kernelSpans(trace);
  const grower = new Grower(trace, places, new TimeTree(), spans);
  for (let span = 0; span < spans.length; span++) grower.addSpan(span);
  return grower.finish();
}

class Grower {
  readonly #boxOfSpan: Int32Array;
  readonly #boxOfPlace: Int32Array;
  readonly #placeOfSpan: Int32Array;
  readonly #columns: Readonly<Record<"name" | "phase" | "isPyLayer", Column>>;
  /** Boxes of ops, other spans and places, keyed by the box around them and their content. */
  readonly #ops = new Map<number, number>();
  readonly #others = new Map<number, number>();
  readonly #inside = new Map<number, number>();
  /** The time of the gaps in each box, by kind. Gaps come after all other boxes in it. */
  readonly #gaps = new Map<number, { around: number; kind: BoxKind; ns: number; count: number }>();

  constructor(
    readonly trace: Trace,
    readonly places: Places,
    readonly tree: TimeTree,
    readonly spans: Spans,
  ) {
    this.#boxOfSpan = new Int32Array(spans.length);
    this.#boxOfPlace = new Int32Array(places.parent.length).fill(-1);
    this.#placeOfSpan = spans.op.map((op, span) => {
      const { kind, key } = this.#leafOf(span);
      if (kind === "op") return places.ofOp(op);
      if (kind === "other") return -1;
      return kind === "backward" ? places.ofCall(key) : places.ofGradNode(key);
    });
    const ops = trace.table("ops");
    this.#columns = {
      name: ops.column("name"),
      phase: ops.column("phase"),
      isPyLayer: ops.column("is_pylayer"),
    };
  }

  addSpan(span: number): void {
    const { tree, spans } = this;
    const around = this.#enter(this.#placeOfSpan[span]!);
    const { kind, key } = this.#leafOf(span);
    const known = kind === "op" ? this.#ops : this.#others;
    const like = kind === "op" ? this.#keyOfOp(around, key) : this.#keyOf(around, kind, key);
    const box = known.get(like) ?? tree.add(around, kind, key);
    known.set(like, box);
    tree.grow(box, spans.self_ns[span]!);
    this.#boxOfSpan[span] = box;
  }

  /**
   * @param before the span before the gap, -1 for none; `after` is after the last span if there is
   * none
   * @param own_ns how much of the gap is the trace's own work
   */
  addGap(before: number, after: number, gap_ns: number, own_ns: number): void {
    const kind = before < 0 ? "before" : after >= this.spans.length ? "after" : "outside";
    const around = this.#enter(kind === "outside" ? this.#common(before, after) : -1);
    const taken_ns = Math.min(gap_ns, own_ns);
    if (taken_ns > 0) this.#addOutside(around, "own", taken_ns);
    if (gap_ns > taken_ns) this.#addOutside(around, kind, gap_ns - taken_ns);
  }

  #addOutside(around: number, kind: BoxKind, ns: number): void {
    const { tree } = this;
    if (kind === "before") {
      tree.grow(tree.add(around, kind, -1), ns);
      return;
    }
    const key = around * BOX_KINDS.length + BOX_KINDS.indexOf(kind);
    const gap = this.#gaps.get(key) ?? { around, kind, ns: 0, count: 0 };
    gap.ns += ns;
    gap.count++;
    this.#gaps.set(key, gap);
  }

  finish(): GrownTree {
    for (const { around, kind, ns, count } of this.#gaps.values()) {
      this.tree.grow(this.tree.add(around, kind, -1), ns, count);
    }
    return {
      tree: this.tree.close(),
      spans: this.spans,
      boxOfSpan: this.#boxOfSpan,
      boxOfPlace: this.#boxOfPlace,
    };
  }

  #common(one: number, other: number): number {
    return commonPlace(this.places, this.#placeOfSpan[one]!, this.#placeOfSpan[other]!);
  }

  /** A key that is equal for ops that share a box. */
  #keyOfOp(around: number, op: number): number {
    const { name, phase, isPyLayer } = this.#columns;
    const like = phase[op]! * 2 + isPyLayer[op]!;
    return (around * this.trace.strings.length + name[op]!) * 8 + like;
  }

  #keyOf(around: number, kind: LeafKind, key: number): number {
    const { trace } = this;
    const like =
      kind === "backward"
        ? trace.at("backward_calls", "kind", key)
        : kind === "grad_node"
          ? BACKWARD_KINDS.length + trace.at("grad_nodes", "name", key)
          : BACKWARD_KINDS.length + trace.strings.length;
    return around * (BACKWARD_KINDS.length + trace.strings.length + 1) + like;
  }

  /** The content of a span's own box. */
  #leafOf(span: number): { kind: LeafKind; key: number } {
    const { op, call, gradNode } = this.spans;
    if (op[span]! >= 0) return { kind: "op", key: op[span]! };
    if (call[span]! >= 0) return { kind: "backward", key: call[span]! };
    const node = gradNode?.[span] ?? -1;
    return { kind: node >= 0 ? "grad_node" : "other", key: node };
  }

  /** The box of a place. If it does not exist yet, it is made. */
  #enter(place: number): number {
    const { places, tree } = this;
    if (place < 0) return 0;
    if (this.#boxOfPlace[place]! >= 0) return this.#boxOfPlace[place]!;
    const missing: number[] = [];
    let at = place;
    for (; at >= 0 && this.#boxOfPlace[at]! < 0; at = places.parent[at]!) missing.push(at);
    let box = at < 0 ? 0 : this.#boxOfPlace[at]!;
    for (const inner of missing.reverse()) {
      const kind = places.kind[inner];
      if (kind) {
        const key = box * places.likenessEnd + places.likeness[inner]!;
        box = this.#inside.get(key) ?? tree.add(box, kind, places.key[inner]!);
        this.#inside.set(key, box);
        tree.grow(box, 0);
      }
      this.#boxOfPlace[inner] = box;
    }
    return box;
  }
}

/** The boxes of a time tree as rows. The outermost box is on top. */
import type { TimeTree } from "./time_tree.ts";

/** Narrower boxes are drawn together as one. */
const NARROWEST_PX = 1;
/** Boxes that are drawn together fill at most this part of the width, so that a zoom shows more. */
const WIDEST_RUN = 1 / 16;

/** What fills the width: a box or, with `only`, some of the boxes inside it. */
export interface Part {
  readonly box: number;
  readonly only?: readonly number[];
}

export interface IcicleBox extends Part {
  /** The number of the row, from 0 at the top. */
  readonly row: number;
  readonly left_px: number;
  readonly width_px: number;
  readonly total_ns: number;
}

export function totalOf(tree: TimeTree, { box, only }: Part): number {
  return only ? only.reduce((sum, inner) => sum + tree.total_ns(inner), 0) : tree.total_ns(box);
}

/** A text that is equal for equal parts of a tree. */
export function nameOfPart({ box, only }: Part): string {
  return only ? `${box}:${only[0]}:${only.length}` : String(box);
}

/** The boxes of a part that fills `width_px`, the outer boxes first, then from left to right. */
export function icicle(tree: TimeTree, part: Part, width_px: number): IcicleBox[] {
  const total_ns = totalOf(tree, part);
  const drawn: IcicleBox[] = [{ ...part, row: 0, left_px: 0, width_px, total_ns }];
  if (total_ns <= 0) return drawn;
  const px = width_px / total_ns;
  // The loop also visits the entries that are appended in it.
  for (const around of drawn) {
    if (around.width_px < NARROWEST_PX || (around.only && around.row > 0)) continue;
    const row = around.row + 1;
    let left_ns = 0;
    for (const inner of partsIn(tree, around, px, width_px)) {
      const inner_ns = totalOf(tree, inner);
      const left_px = around.left_px + left_ns * px;
      drawn.push({ ...inner, row, left_px, width_px: inner_ns * px, total_ns: inner_ns });
      left_ns += inner_ns;
    }
  }
  return drawn;
}

/** The boxes directly inside a part. Narrow boxes are drawn together. */
function partsIn(tree: TimeTree, around: Part, px: number, width_px: number): Part[] {
  const parts: Part[] = [];
  let [run, run_px]: [number[], number] = [[], 0];
  const end = (): void => {
    if (run.length) parts.push(run.length > 1 ? { box: around.box, only: run } : { box: run[0]! });
    [run, run_px] = [[], 0];
  };
  const narrow: number[] = [];
  const join = (box: number): void => {
    run.push(box);
    run_px += tree.total_ns(box) * px;
    if (run_px >= width_px * WIDEST_RUN) end();
  };
  for (const box of around.only ?? tree.children(around.box)) {
    if (tree.total_ns(box) * px < NARROWEST_PX) narrow.push(box);
    else parts.push({ box });
  }
  narrow.forEach(join);
  end();
  return parts;
}

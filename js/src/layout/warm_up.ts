/** Graphs to lay out before there is one: of many shapes, so that every step has been run, and compiled. */

import type { NestedGraph } from "./contract.ts";

/** Rounds of graphs that are worth it: later ones gain next to nothing. */
export const WARM_UP_ROUNDS = 20;

/** Adds an item that reads others, to a group or to the top (-1), and returns it. */
type Add = (group: number, ...inputs: number[]) => number;

/**
 * A net of blocks one after the other: chains, skips, branches, wide fans, a tensor that all blocks read, lines
 * that cross, open groups. Later rounds are longer and have nothing to disentangle.
 */
export function warmUpGraph(round: number): NestedGraph {
  return madeGraph((add, open) => {
    let last = add(-1);
    const read = add(-1);
    for (let block = 0; block < 6 + 3 * round; block++) {
      const group = block % 4 === 3 ? add(-1) : -1;
      if (group >= 0) open(group);
      const skip = last;
      const [left, right] = [add(group, skip), add(group, skip)];
      last = add(group, add(group, left), right, read);
      if (round < 4 && block === 1) {
        for (let i = 0; i < 4; i++) last = add(group, last, left, add(group, right));
      }
      for (let i = 0; i < 4; i++) last = add(group, last);
      last = add(group, last, skip);
      add(group, last);
      for (let i = 0; i < 4; i++) last = add(-1, last);
    }
    const branches = Array.from({ length: 150 }, () => add(-1, last));
    last = add(-1, ...branches);
    for (let leaf = 0; leaf < 100; leaf++) add(-1, last);
  });
}

/** As little as takes every step that most graphs take: a straight line, a skip, branches, an open group. */
export function smallGraph(): NestedGraph {
  return madeGraph((add, open) => {
    let last = add(-1);
    for (let i = 0; i < 6; i++) last = add(-1, last);
    const skip = last;
    last = add(-1, add(-1, skip), add(-1, add(-1, skip)), skip);
    const group = add(-1);
    open(group);
    last = add(group, add(group, last), last);
    add(-1, add(-1, last));
  });
}

function madeGraph(build: (add: Add, open: (group: number) => void) => void): NestedGraph {
  const parent: number[] = [];
  const open: number[] = [];
  const source: number[] = [];
  const target: number[] = [];
  const add: Add = (group, ...inputs) => {
    const item = parent.push(group) - 1;
    open.push(0);
    for (const input of inputs) {
      source.push(input);
      target.push(item);
    }
    return item;
  };
  build(add, (group) => {
    open[group] = 1;
  });
  const count = parent.length;
  return {
    itemCount: count,
    parent: Int32Array.from(parent),
    open: Uint8Array.from(open),
    width: Float64Array.from(parent, (_, item) => 120 + 24 * (item % 4)),
    height: new Float64Array(count).fill(28),
    edgeSource: Int32Array.from(source),
    edgeTarget: Int32Array.from(target),
    order: Int32Array.from(parent, (_, item) => item),
    structure: Int32Array.from(open, (isOpen) => isOpen - 1),
  };
}

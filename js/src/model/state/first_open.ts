/** The groups that are open at first: as many as fit into a picture. */
import type { Hierarchy } from "../graph/hierarchy.ts";

/** The largest number of boxes in a first picture. */
const MOST_BOXES = 40;
/** If there are at most this many boxes, the next level opens even if it exceeds `MOST_BOXES`. */
const TOO_FEW_BOXES = 3;

/** The groups that are open at first, and the members that are shown next to their folded runs. */
interface InitialOpen {
  readonly open: ReadonlySet<number>;
  readonly taken: ReadonlySet<number>;
}

interface OfMode {
  readonly shut: ReadonlySet<number>;
  readonly now: InitialOpen;
}

export class FirstOpen {
  readonly #hierarchy: Hierarchy;
  readonly #all: InitialOpen;
  readonly #ofModes = new Map<string, OfMode>();

  constructor(hierarchy: Hierarchy) {
    this.#hierarchy = hierarchy;
    this.#all = initialOpen(hierarchy);
  }

  of(mode: string): InitialOpen {
    return this.#ofModes.get(mode)?.now ?? this.#all;
  }

  /** Whether a state shows exactly the groups that are open at first. */
  is({ mode, open, taken }: InitialOpen & { readonly mode: string }): boolean {
    const first = this.of(mode);
    return open === first.open && taken === first.taken;
  }

  /** Keep groups closed, because they make the picture of a mode too wide. */
  shut(mode: string, groups: readonly number[]): InitialOpen {
    const shut = new Set([...(this.#ofModes.get(mode)?.shut ?? []), ...groups]);
    const now = initialOpen(this.#hierarchy, shut);
    this.#ofModes.set(mode, { shut, now });
    return now;
  }
}

/**
 * Open whole levels, from the top, while there are few boxes.
 *
 * @param shut groups that stay closed
 */
function initialOpen(hierarchy: Hierarchy, shut: ReadonlySet<number> = new Set()): InitialOpen {
  const open = new Set<number>();
  const taken = new Set<number>();
  const mayOpen = (group: number): boolean => !shut.has(group);
  let closed = closedGroupsIn(hierarchy, -1).filter(mayOpen);
  const folds = foldsIn(hierarchy, -1).filter(mayOpen);
  let boxes = boxCount(hierarchy, -1);
  while (closed.length || folds.length) {
    if (!closed.length) {
      if (boxes >= TOO_FEW_BOXES) {
        break;
      }
      // If a folded run has hardly any other box next to it, open one of its members.
      closed = folds.splice(0, 1);
      taken.add(closed[0]!);
      boxes++;
    }
    const next = closed.flatMap((group) => closedGroupsIn(hierarchy, group)).filter(mayOpen);
    const nextBoxes =
      boxes - closed.length + closed.reduce((sum, group) => sum + boxCount(hierarchy, group), 0);
    if (nextBoxes > MOST_BOXES && boxes > TOO_FEW_BOXES) {
      break;
    }
    folds.push(...closed.flatMap((group) => foldsIn(hierarchy, group)).filter(mayOpen));
    for (const group of closed) {
      open.add(group);
    }
    closed = next;
    boxes = nextBoxes;
  }
  return { open, taken };
}

/** The first members of the runs directly inside `parent`. */
function foldsIn(hierarchy: Hierarchy, parent: number): number[] {
  return Array.from(hierarchy.groupsIn(parent)).filter(
    (group) => hierarchy.runOf[group] === group && !hierarchy.isOptimizer[group],
  );
}

/** The groups in `parent` that are drawn as separate closed boxes. */
function closedGroupsIn(hierarchy: Hierarchy, parent: number): number[] {
  return Array.from(hierarchy.groupsIn(parent)).filter(
    (group) =>
      !hierarchy.isTransparent[group] &&
      !hierarchy.isOptimizer[group] &&
      hierarchy.runOf[group]! < 0,
  );
}

/** How many boxes are directly inside `parent` if all groups in it are closed and folded. */
function boxCount(hierarchy: Hierarchy, parent: number): number {
  let count = hierarchy.opsIn(parent).filter((op) => !hierarchy.isAside[op]).length;
  for (const group of hierarchy.groupsIn(parent)) {
    const run = hierarchy.runOf[group]!;
    if (!hierarchy.isOptimizer[group] && (run < 0 || run === group)) {
      count++;
    }
  }
  return count;
}

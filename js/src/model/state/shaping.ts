/** The parts of the state that change the layout. Undo restores them. */
import type { ViewState } from "./view_state.ts";

const SHAPING = [
  "mode",
  "backwardCall",
  "open",
  "unfolded",
  "taken",
  "isolation",
  "showParameters",
  "showOptimizer",
] as const satisfies readonly (keyof ViewState)[];

export type Shape = Pick<ViewState, (typeof SHAPING)[number]>;

/** The parts of a state that determine the layout. */
export function shapeOf(state: ViewState): Shape {
  return Object.fromEntries(SHAPING.map((name) => [name, state[name]])) as Shape;
}

/**
 * Whether two states of a store have the same layout. It compares only references, so it is fast.
 */
export function hasSameShape(one: ViewState, other: ViewState): boolean {
  return SHAPING.every((name) => one[name] === other[name]);
}

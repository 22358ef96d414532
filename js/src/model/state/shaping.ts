/** The parts of the state that need a new layout when they change. Undo restores them. */
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

/** The parts of a state that shape the picture. */
export function shapeOf(state: ViewState): Shape {
  return Object.fromEntries(SHAPING.map((name) => [name, state[name]])) as Shape;
}

/** Whether two states of one store have the same shape. Compares references only, so it is fast. */
export function hasSameShape(one: ViewState, other: ViewState): boolean {
  return SHAPING.every((name) => one[name] === other[name]);
}

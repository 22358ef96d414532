/** Which parts of the state shape the picture: it is laid out anew for them, and undo brings them back. */
import type { ViewState } from "./view_state.ts";

const SHAPING = [
  "mode",
  "backwardCall",
  "open",
  "unfolded",
  "taken",
  "showParameters",
  "showOptimizer",
] as const satisfies readonly (keyof ViewState)[];

export type Shape = Pick<ViewState, (typeof SHAPING)[number]>;

/** What of a state shapes the picture. */
export function shapeOf(state: ViewState): Shape {
  return Object.fromEntries(SHAPING.map((name) => [name, state[name]])) as Shape;
}

/** Whether nothing that shapes the picture was replaced: quick, and right between two states of one store. */
export function hasSameShape(one: ViewState, other: ViewState): boolean {
  return SHAPING.every((name) => one[name] === other[name]);
}

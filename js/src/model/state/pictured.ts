/** What a picture is made of: the store as it is, or as it would be after a change. */

import type { Store } from "./store.ts";
import type { ViewState } from "./view_state.ts";

export type Pictured = Readonly<
  Pick<Store, "trace" | "hierarchy" | "findings" | "oddSiblings" | "state">
>;

/** The store in a state of its own: later changes do not alter it. */
export function pictured(store: Pictured, state: ViewState): Pictured {
  const { trace, hierarchy, findings, oddSiblings } = store;
  return { trace, hierarchy, findings, oddSiblings, state };
}

/** The parts of the store that a picture is drawn from. */

import type { Store } from "./store.ts";

export type Pictured = Readonly<
  Pick<Store, "trace" | "hierarchy" | "findings" | "oddSiblings" | "state">
>;

/** The parts of the store that determine a picture. */

import type { Store } from "./store.ts";

export type Pictured = Readonly<
  Pick<Store, "trace" | "hierarchy" | "findings" | "oddSiblings" | "state">
>;

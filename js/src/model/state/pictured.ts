/** The parts of the store on which a picture depends. */

import type { Store } from "./store.ts";

export type Pictured = Readonly<
  Pick<Store, "trace" | "hierarchy" | "findings" | "oddSiblings" | "state">
>;

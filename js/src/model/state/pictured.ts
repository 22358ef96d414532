/** What a picture is made of. */

import type { Store } from "./store.ts";

export type Pictured = Readonly<
  Pick<Store, "trace" | "hierarchy" | "findings" | "oddSiblings" | "state">
>;

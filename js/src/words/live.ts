import table from "../../../paddle_lab/words/live.json";
import { sayFrom } from "./say.ts";

/** What the live chart says: every saved notebook carries it, so it has a table of its own. */
export const t = /* @__PURE__ */ sayFrom<keyof typeof table>(table);

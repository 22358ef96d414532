import table from "../../../paddle_lab/words/live.json";
import { sayFrom } from "./say.ts";

/** Texts of the live chart, in their own table: every saved notebook contains them. */
export const t = /* @__PURE__ */ sayFrom<keyof typeof table>(table);

import table from "../../../paddle_lab/words/tables/live.json";
import { sayFrom } from "./say.ts";

/** The texts of the live chart. They have a table of their own, which every notebook contains. */
export const t = /* @__PURE__ */ sayFrom<keyof typeof table>(table);

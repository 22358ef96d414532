import table from "../../../paddle_lab/words/tables/loader.json";
import { sayFrom } from "./say.ts";

/** Texts of the small module in every saved notebook, and of the plugin outside the views. */
export const t = /* @__PURE__ */ sayFrom<keyof typeof table>(table);

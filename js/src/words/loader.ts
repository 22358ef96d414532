import table from "../../../paddle_lab/words/loader.json";
import { sayFrom } from "./say.ts";

/** What the small module says that every saved notebook carries, and the plugin beside the views. */
export const t = /* @__PURE__ */ sayFrom<keyof typeof table>(table);

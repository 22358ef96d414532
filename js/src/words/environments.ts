import table from "../../../paddle_lab/words/tables/environments.json";
import { sayFrom } from "./say.ts";

/** Messages of the plugin if the kernel or the server lacks something that a live view needs. */
export const t = /* @__PURE__ */ sayFrom<keyof typeof table>(table);

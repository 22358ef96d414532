import table from "../../../paddle_lab/words/environments.json";
import { sayFrom } from "./say.ts";

/** What the plugin says where the kernel or the Jupyter server lacks what a live view needs. */
export const t = /* @__PURE__ */ sayFrom<keyof typeof table>(table);

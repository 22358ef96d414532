import table from "../../../paddle_lab/words/tables/page.json";
import { sayFrom } from "./say.ts";

export type PageKey = keyof typeof table;

/** Texts of the graph's and the memory's views. */
export const t = /* @__PURE__ */ sayFrom<PageKey>(table);

/** The common type of all ways to group memory blocks. */
import type { Selection } from "../../model/state/view_state.ts";
import { t } from "../../words/page.ts";

/** A way to group all blocks of a trace. */
export interface Groups {
  /** The group of each row of `allocations`. */
  readonly groupOf: Int32Array;
  readonly count: number;
  label(group: number): string;
  /** More text that distinguishes the group from others, or "". */
  note(group: number): string;
  /** The selection in the graph for this group. */
  selection(group: number): Selection;
}

/** The group for memory from before the trace that was not used in it. */
export const UNMET = -1;
export function unmetLabel(): string {
  return t("memory.unmet");
}

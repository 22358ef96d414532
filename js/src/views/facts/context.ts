/** Data and functions that the parts of the panel share. */

import type { TraceTotals } from "../../model/graph/trace_totals.ts";
import type { Store } from "../../model/state/store.ts";
import type { Trace } from "../../trace/trace.ts";
import type { ValueBench } from "./value_answer.ts";

export interface PanelContext {
  readonly store: Store;
  readonly trace: Trace;
  readonly totals: TraceTotals;
  /** Shows the frame's line in the surrounding page, or in the panel's source view. */
  openFrame(frame: number): void;
  readonly values: ValueBench;
  /** Shows a line in the panel's source view. `file` is a position in `trace.strings`. */
  showSource(file: number, line: number): void;
}

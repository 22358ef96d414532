/** The graphs that a record's views lay out: forward, backward and ladder, as first shown and all opened. */

import type { NestedGraph } from "../../../src/layout/contract.ts";
import { Store } from "../../../src/model/state/store.ts";
import { Trace } from "../../../src/trace/trace.ts";
import { unpack } from "../../../src/trace/unpack.ts";
import { arrange } from "../../../src/views/arrange/arrange.ts";
import { arrangeLadder } from "../../../src/views/arrange/ladder_rows.ts";
import type { TextMeasure } from "../../../src/views/scene/measure.ts";

/** Letters of one width, so that a graph's boxes do not hang on the fonts of a machine. */
const MEASURE = {
  width: (text: string) => 7 * text.length,
  fit: (text: string) => text,
} as unknown as TextMeasure;

/** @returns graphs by name, such as "ladder, opened"; a graph that two views share comes once. */
export async function graphsOf(payload: Uint8Array): Promise<Map<string, NestedGraph>> {
  const graphs = new Map<string, NestedGraph>();
  const seen = new Set<string>();
  for (const state of ["first", "opened"]) {
    for (const mode of ["forward", "backward", "ladder"] as const) {
      const store = new Store(new Trace(await unpack(payload)));
      if (state === "opened") store.openAll();
      if (mode !== "forward" && store.state.backwardCall < 0) continue;
      store.update({ mode });
      const { graph } =
        mode === "ladder" ? arrangeLadder(store, MEASURE) : arrange(store, mode, MEASURE);
      // A ladder whose boxes are those of the forward graph is laid out as that.
      const { parent, open, width, height, edgeSource, edgeTarget } = graph;
      const content = [parent, open, width, height, edgeSource, edgeTarget].join(";");
      if (graph.edgeSource.length > 0 && !seen.has(content)) graphs.set(`${mode}, ${state}`, graph);
      seen.add(content);
    }
  }
  return graphs;
}

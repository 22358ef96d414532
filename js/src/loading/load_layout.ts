/** Has a worker run the layout, or the page itself. */
import packedLayout from "packed-script:../layout/worker_entry.ts";
import {
  createLayoutRunner,
  type LayoutFunction,
  type LayoutRunner,
  startLayout,
} from "../layout/index.ts";
import { importScript, unpackScript } from "./packed_script.ts";

export async function loadLayout(): Promise<LayoutRunner> {
  const script = await unpackScript(packedLayout);
  const layoutHere: LayoutFunction = async (graph, options) => {
    const { layoutNested } = await importScript<typeof import("../layout/worker_entry.ts")>(script);
    return layoutNested(graph, options);
  };
  const workerSource = `${script}\n;bundled.serve()`;
  // The worker starts while the graph is being read.
  startLayout(workerSource);
  return createLayoutRunner(layoutHere, workerSource);
}

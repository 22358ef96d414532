/** Has a worker run the layout, or the page itself. */
import packedLayout from "packed-script:./layout/worker_entry.ts";
import {
  createLayoutRunner,
  type LayoutFunction,
  type LayoutRunner,
  startLayout,
  warmUpLayout,
} from "./layout/index.ts";
import { importScript, unpackScript } from "./packed_script.ts";

export async function loadLayout(): Promise<LayoutRunner> {
  const script = await unpackScript(packedLayout);
  const layoutHere: LayoutFunction = async (graph, options) => {
    const { layoutNested } = await importScript<typeof import("./layout/worker_entry.ts")>(script);
    return layoutNested(graph, options);
  };
  const workerSource = workerSourceOf(script);
  // The worker starts, and meets its code, while the graph is being read. What more it did, the graph would wait for.
  startLayout(workerSource);
  return createLayoutRunner(layoutHere, workerSource);
}

/** Before the first graph: have a worker start, and run its code until it is fast. */
export async function warmUp(): Promise<void> {
  warmUpLayout(workerSourceOf(await unpackScript(packedLayout)));
}

function workerSourceOf(script: string): string {
  return `${script}\n;bundled.serve()`;
}

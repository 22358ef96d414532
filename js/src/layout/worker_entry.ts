/**
 * The layout, bundled on its own: a worker calls `serve` of it; where workers are not allowed, the
 * page itself calls `layoutNested`.
 */

import { layoutNested } from "./nested.ts";
import { buffersOf, type LayoutReply, type LayoutRequest } from "./worker.ts";
import type { WorkerOrder } from "./worker_pool.ts";

interface WorkerScope {
  onmessage: ((event: MessageEvent<LayoutRequest | WorkerOrder>) => void) | null;
  postMessage(message: LayoutReply, transfer?: Transferable[]): void;
}

export { layoutNested };

/** Answer the page's requests; to be called in a worker. */
export function serve(): void {
  const scope = globalThis as unknown as WorkerScope;
  const cache = new Map<string, unknown>();
  scope.onmessage = ({ data }) => {
    if (data.kind === "forget") {
      cache.clear();
      return;
    }
    try {
      const result = layoutNested(data.graph, { ...data.options, cache });
      scope.postMessage({ kind: "done", result }, buffersOf(result));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      scope.postMessage({ kind: "failed", message });
    }
  };
  scope.postMessage({ kind: "ready" });
}

/** Runs layouts in a worker made from inlined source, or on the main thread where workers are not allowed. */

import {
  LayoutCancelled,
  type NestedGraph,
  type NestedOptions,
  type NestedResult,
} from "./contract.ts";
import { countRunner, returnWorker, takeWorker } from "./worker_pool.ts";

export type RunnerOptions = Omit<NestedOptions, "cache">;

export interface LayoutRunner {
  /** Rejects with LayoutCancelled after `cancelCurrent` or `dispose`. The graph's arrays stay usable. */
  layout(graph: NestedGraph, options?: RunnerOptions): Promise<NestedResult>;
  /** Give up all layouts that are not finished. */
  cancelCurrent(): void;
  dispose(): void;
}

/** To the worker, which has one at a time. */
export interface LayoutRequest {
  kind: "layout";
  graph: NestedGraph;
  options: RunnerOptions;
}

/** From the worker. `ready` comes once, when it has started. */
export type LayoutReply =
  | { kind: "ready" }
  | { kind: "done"; result: NestedResult }
  | { kind: "failed"; message: string };

/** A cancelled layout may still end by itself for this long; then its worker, cache and all, is dropped. */
const GRACE_MS = 150;

export type LayoutFunction = (
  graph: NestedGraph,
  options: NestedOptions,
) => NestedResult | Promise<NestedResult>;

/** A worker is forbidden by the page's policy, or it broke: either way it will not answer. */
class NoWorker extends Error {}

/**
 * @param layout does the work on the main thread, where workers are not allowed
 * @param workerSource the script of a worker, as `worker_entry.ts` answers; null to stay on the main thread
 */
export function createLayoutRunner(
  layout: LayoutFunction,
  workerSource: string | null,
): LayoutRunner {
  const jobs = new Set<AbortController>();
  const cache = new Map<string, unknown>();
  let last: Worker | undefined;
  let isBlocked = workerSource === null || typeof Worker === "undefined";
  let isDisposed = false;

  const layoutHere = async (
    graph: NestedGraph,
    options: RunnerOptions,
    signal: AbortSignal,
  ): Promise<NestedResult> => {
    // Later, so that the caller can paint first, or cancel.
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    return layout(graph, { ...options, cache });
  };

  const layoutInWorker = (
    graph: NestedGraph,
    options: RunnerOptions,
    signal: AbortSignal,
  ): Promise<NestedResult> =>
    new Promise((resolve, reject) => {
      let worker: Worker;
      try {
        worker = takeWorker(workerSource!, last);
      } catch {
        reject(new NoWorker());
        return;
      }
      last = worker;
      let grace: ReturnType<typeof setTimeout> | undefined;
      signal.addEventListener("abort", () => {
        reject(signal.reason);
        grace = setTimeout(() => worker.terminate(), GRACE_MS);
      });
      worker.onerror = (event) => {
        event.preventDefault();
        worker.terminate();
        reject(new NoWorker());
      };
      worker.onmessage = ({ data }: MessageEvent<LayoutReply>) => {
        if (data.kind === "ready") return;
        clearTimeout(grace);
        // Others may have the worker while there is nothing for it to do here.
        returnWorker(workerSource!, worker);
        if (data.kind === "done") resolve(data.result);
        else reject(new Error(data.message));
      };
      // Copies: the caller keeps its arrays, and a view of a large buffer does not drag the buffer along.
      const copy = copyArrays(graph);
      const request: LayoutRequest = { kind: "layout", graph: copy, options };
      worker.postMessage(request, buffersOf(copy));
    });

  countRunner(1);
  return {
    async layout(graph, options = {}) {
      if (isDisposed) throw new LayoutCancelled();
      const job = new AbortController();
      jobs.add(job);
      try {
        if (isBlocked) return await layoutHere(graph, options, job.signal);
        return await layoutInWorker(graph, options, job.signal);
      } catch (error) {
        if (job.signal.aborted || isBlocked || !(error instanceof NoWorker)) throw error;
        isBlocked = true;
        return await layoutHere(graph, options, job.signal);
      } finally {
        jobs.delete(job);
      }
    },
    cancelCurrent() {
      for (const job of jobs) job.abort(new LayoutCancelled());
    },
    dispose() {
      if (isDisposed) return;
      isDisposed = true;
      this.cancelCurrent();
      cache.clear();
      countRunner(-1);
    },
  };
}

function copyArrays(graph: NestedGraph): NestedGraph {
  const copy: Record<string, unknown> = { ...graph };
  for (const [name, value] of Object.entries(copy)) {
    if (ArrayBuffer.isView(value)) copy[name] = (value as Float64Array).slice();
  }
  return copy as unknown as NestedGraph;
}

/** The buffers of a message's arrays, for transfer. */
export function buffersOf(message: object): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const value of Object.values(message)) {
    if (ArrayBuffer.isView(value)) buffers.add(value.buffer as ArrayBuffer);
  }
  return [...buffers];
}

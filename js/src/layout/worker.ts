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

/** To the worker. */
export interface LayoutRequest {
  kind: "layout";
  id: number;
  graph: NestedGraph;
  options: RunnerOptions;
}

/** From the worker. `ready` comes once, when it has started. */
export type LayoutReply =
  | { kind: "ready" }
  | { kind: "done"; id: number; result: NestedResult }
  | { kind: "failed"; id: number; message: string };

interface Job {
  graph: NestedGraph;
  options: RunnerOptions;
  resolve: (result: NestedResult | Promise<NestedResult>) => void;
  reject: (error: unknown) => void;
}

/** A cancelled layout may still end by itself for this long; then its worker, cache and all, is dropped. */
const GRACE_MS = 150;

export type LayoutFunction = (
  graph: NestedGraph,
  options: NestedOptions,
) => NestedResult | Promise<NestedResult>;

/**
 * @param layout does the work on the main thread, where workers are not allowed
 * @param workerSource the script of a worker, as `worker_entry.ts` answers; null to stay on the main thread
 */
export function createLayoutRunner(
  layout: LayoutFunction,
  workerSource: string | null,
): LayoutRunner {
  const jobs = new Map<number, Job>();
  const stale = new Set<number>();
  let cache = new Map<string, unknown>();
  let lastId = 0;
  let worker: Worker | null = null;
  let last: Worker | undefined;
  let grace: ReturnType<typeof setTimeout> | undefined;
  let blocked = workerSource === null || typeof Worker === "undefined";
  let disposed = false;

  const runHere = (id: number): void => {
    // Later, so that the caller can paint first, or cancel.
    setTimeout(() => {
      const job = jobs.get(id);
      if (job === undefined) return;
      jobs.delete(id);
      try {
        job.resolve(layout(job.graph, { ...job.options, cache }));
      } catch (error) {
        job.reject(error);
      }
    }, 0);
  };

  const endGrace = (): void => {
    clearTimeout(grace);
    grace = undefined;
  };

  const stopWorker = (): void => {
    worker?.terminate();
    worker = null;
    stale.clear();
    endGrace();
  };

  /** Others may have the worker while there is nothing for it to do here. */
  const leaveWorker = (): void => {
    if (worker === null || jobs.size > 0 || stale.size > 0) return;
    last = worker;
    worker = null;
    returnWorker(workerSource!, last);
  };

  const getWorker = (): void => {
    const taken = takeWorker(workerSource!, last);
    worker = taken;
    taken.onerror = (event) => {
      event.preventDefault();
      if (worker !== taken) return;
      // Forbidden by the page's policy, or broken: either way it will not answer.
      stopWorker();
      blocked = true;
      for (const id of jobs.keys()) runHere(id);
    };
    taken.onmessage = ({ data }: MessageEvent<LayoutReply>) => {
      if (data.kind === "ready") return;
      if (stale.delete(data.id) && stale.size === 0) endGrace();
      const job = jobs.get(data.id);
      jobs.delete(data.id);
      leaveWorker();
      if (data.kind === "done") job?.resolve(data.result);
      else job?.reject(new Error(data.message));
    };
  };

  const send = (id: number, job: Job): void => {
    if (!blocked && worker === null) {
      try {
        getWorker();
      } catch {
        blocked = true;
      }
    }
    if (worker === null) {
      runHere(id);
      return;
    }
    // Copies: the caller keeps its arrays, and a view of a large buffer does not drag the buffer along.
    const graph = copyArrays(job.graph);
    const request: LayoutRequest = { kind: "layout", id, graph, options: job.options };
    worker.postMessage(request, buffersOf(graph));
  };

  countRunner(1);
  return {
    layout(graph, options = {}) {
      return new Promise((resolve, reject) => {
        if (disposed) {
          reject(new LayoutCancelled());
          return;
        }
        const id = ++lastId;
        const job: Job = { graph, options, resolve, reject };
        jobs.set(id, job);
        send(id, job);
      });
    },
    cancelCurrent() {
      for (const [id, job] of jobs) {
        job.reject(new LayoutCancelled());
        if (worker !== null) stale.add(id);
      }
      jobs.clear();
      if (stale.size === 0 || grace !== undefined) return;
      grace = setTimeout(() => {
        stopWorker();
        if (disposed) return;
        for (const [id, job] of jobs) send(id, job);
      }, GRACE_MS);
    },
    dispose() {
      if (disposed) return;
      disposed = true;
      this.cancelCurrent();
      cache = new Map();
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

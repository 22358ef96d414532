/**
 * The page's layout workers. One is lent to a graph while that has layouts to make, and then to the next: a new one
 * takes a while to start, and runs its code slowly at first.
 */

/** Workers that wait for work. */
const MOST_IDLE = 2;

/** To a worker, beside what it is to lay out: forget what is kept of graphs that are gone. */
export interface WorkerOrder {
  kind: "forget";
}

interface Idle {
  worker: Worker;
  source: string;
}

const idle: Idle[] = [];
let runnerCount = 0;

/**
 * A worker that nobody else uses.
 *
 * @param source its script
 * @param last the one that was had before: it may still keep what it laid out
 * @throws where workers are not allowed
 */
export function takeWorker(source: string, last: Worker | undefined): Worker {
  const own = idle.findIndex(({ worker }) => worker === last);
  const at = own >= 0 ? own : idle.findLastIndex((waiting) => waiting.source === source);
  return at >= 0 ? idle.splice(at, 1)[0]!.worker : startWorker(source);
}

/** Let others have a worker that has nothing to do. */
export function returnWorker(source: string, worker: Worker): void {
  worker.onmessage = null;
  worker.onerror = (event) => {
    event.preventDefault();
    dropIdle(worker);
  };
  idle.push({ worker, source });
  if (idle.length > MOST_IDLE) idle.shift()!.worker.terminate();
  if (runnerCount === 0) forget();
}

/** Start a worker, if none waits: a graph is about to be there. */
export function startLayout(source: string): void {
  if (typeof Worker === "undefined" || idle.length > 0 || runnerCount > 0) return;
  try {
    returnWorker(source, startWorker(source));
  } catch {
    // Workers are not allowed here: the page lays out by itself.
  }
}

/** Counts the users of the workers. When none is left, the kept workers are released. */
export function countRunner(by: 1 | -1): void {
  runnerCount += by;
  if (runnerCount === 0) forget();
}

function forget(): void {
  for (const { worker } of idle) worker.postMessage({ kind: "forget" } satisfies WorkerOrder);
}

function dropIdle(worker: Worker): void {
  const at = idle.findIndex((waiting) => waiting.worker === worker);
  if (at >= 0) idle.splice(at, 1);
  worker.terminate();
}

function startWorker(source: string): Worker {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(url);
  const hasStarted = (): void => URL.revokeObjectURL(url);
  worker.addEventListener("message", hasStarted, { once: true });
  worker.addEventListener("error", hasStarted, { once: true });
  return worker;
}

/** From packed bytes to a mounted view: what the widget and the page without Jupyter share. */
import { showFailure } from "./failure.ts";
import type { LayoutRunner } from "./layout/index.ts";
import { loadLayout } from "./load_layout.ts";
import { Trace } from "./model/trace.ts";
import { unpack } from "./model/unpack.ts";
import { type App, type AppOptions, mountApp } from "./views/app.ts";

/** A trace that is read, and a worker that waits for its graph. */
export interface Prepared {
  readonly trace: Trace;
  readonly runner: LayoutRunner;
  /** For what is never shown. */
  dispose(): void;
}

/**
 * Read a payload and make ready what draws it.
 *
 * @throws Error with one sentence for people, if the bytes are no trace or are damaged.
 */
export async function prepare(bytes: Uint8Array): Promise<Prepared> {
  const loading = loadLayout();
  try {
    const trace = new Trace(await unpack(bytes));
    const runner = await loading;
    return { trace, runner, dispose: () => runner.dispose() };
  } catch (error) {
    void loading.then((runner) => runner.dispose()).catch(() => {});
    throw error;
  }
}

/**
 * Show in `root` a payload, or what was prepared of one.
 *
 * A failure is shown in `root` as a readable box.
 *
 * @returns undefined where it failed, or where `signal` was aborted in the meantime
 */
export async function showPayload(
  root: HTMLElement,
  payload: Uint8Array | Promise<Prepared>,
  options: Omit<AppOptions, "runner">,
  signal?: AbortSignal,
): Promise<App | undefined> {
  try {
    const { trace, runner } = await (payload instanceof Uint8Array ? prepare(payload) : payload);
    if (signal?.aborted) {
      runner.dispose();
      return undefined;
    }
    return mountApp(root, trace, { ...options, runner });
  } catch (error) {
    showFailure(root, error);
    return undefined;
  }
}

/** From packed bytes to a mounted view: what the widget and the page without Jupyter share. */
import { showFailure } from "./failure.ts";
import { loadLayout } from "./load_layout.ts";
import { Trace } from "./model/trace.ts";
import { unpack } from "./model/unpack.ts";
import { type App, type AppOptions, mountApp } from "./views/app.ts";

/**
 * Unpack a payload and show it in `root`.
 *
 * A failure is shown in `root` as a readable box.
 *
 * @returns undefined where it failed, or where `signal` was aborted in the meantime
 */
export async function showPayload(
  root: HTMLElement,
  bytes: Uint8Array,
  options: Omit<AppOptions, "runner">,
  signal?: AbortSignal,
): Promise<App | undefined> {
  try {
    const [packed, runner] = await Promise.all([unpack(bytes), loadLayout()]);
    const trace = new Trace(packed);
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

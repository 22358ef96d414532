/** Turns packed bytes into a mounted view, for the widget and for the page without Jupyter. */

import { nextTask } from "./dom/after_paint.ts";
import { showFailure } from "./dom/failure.ts";
import { readFont } from "./dom/theme.ts";
import { Store } from "./model/state/store.ts";
import type { Mode } from "./model/state/view_state.ts";
import { Trace } from "./trace/trace.ts";
import { unpack } from "./trace/unpack.ts";
import { type App, type AppOptions, mountApp, type Prepared } from "./views/app.ts";
import { Picture } from "./views/picture/picture.ts";
import { TextMeasure } from "./views/scene/measure.ts";
import { speak } from "./words/say.ts";

/**
 * Read a payload.
 *
 * @param view the graph to show first
 * @throws Error with a sentence for the user, if the bytes are no trace or are damaged.
 */
async function prepare(payload: Uint8Array | Promise<Uint8Array>, view?: Mode): Promise<Prepared> {
  const trace = new Trace(await unpack(await payload));
  speak(trace.origin.language);
  // Let the page handle events before the next step.
  await nextTask();
  const store = new Store(trace);
  if (view && view !== store.state.mode) {
    store.update({ mode: view });
  }
  const measure = new TextMeasure(readFont());
  return { store, measure, picture: new Picture(store, measure) };
}

/**
 * Show a payload in `root`; the payload may still be arriving.
 *
 * A failure is shown in `root` as a readable box.
 *
 * @returns undefined if showing failed, or if `signal` was aborted in the meantime
 */
export async function showPayload(
  root: HTMLElement,
  payload: Uint8Array | Promise<Uint8Array>,
  options: AppOptions & { readonly view?: Mode },
  signal?: AbortSignal,
): Promise<App | undefined> {
  try {
    const prepared = await prepare(payload, options.view);
    if (signal?.aborted) {
      return undefined;
    }
    const app = mountApp(root, prepared, options);
    app.ready.catch((error: unknown) => showFailure(root, error));
    return app;
  } catch (error) {
    showFailure(root, error);
    return undefined;
  }
}

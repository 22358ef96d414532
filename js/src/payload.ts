/** From packed bytes to a mounted view: what the widget and the page without Jupyter share. */
import { showFailure } from "./failure.ts";
import { isWorkerStarting } from "./layout/index.ts";
import { loadLayout } from "./load_layout.ts";
import { readMemoryAhead } from "./load_memory.ts";
import { Store } from "./model/store.ts";
import { Trace } from "./model/trace.ts";
import { readInflated, unpack } from "./model/unpack.ts";
import type { Mode } from "./model/view_state.ts";
import type { Inflated } from "./reader.ts";
import { type App, type AppOptions, mountApp, type Prepared } from "./views/app.ts";
import { likelyRoom } from "./views/likely_room.ts";
import { Picture } from "./views/picture.ts";
import { TextMeasure } from "./views/scene/measure.ts";
import { breath, nextTask } from "./views/scene/slices.ts";
import { readFont } from "./views/theme.ts";
import { speak } from "./words/say.ts";

export type { Prepared };

/** The view is put into the page while its picture is laid out elsewhere: of a long one not so late. */
const ARRANGING_LIMIT_MS = 100;

/**
 * Read a payload and begin with its first picture: where it is not shown yet, that is made meanwhile.
 *
 * The views' styles are in the page by then.
 *
 * @param payload where it still arrives, what there is to get ready is got ready meanwhile
 * @param view the graph to show first
 * @throws Error with one sentence for people, if the bytes are no trace or are damaged.
 */
export async function prepare(
  payload: Uint8Array | Promise<Uint8Array | Inflated>,
  view?: Mode,
): Promise<Prepared> {
  const loading = loadLayout();
  try {
    const given = await payload;
    const isRaw = given instanceof Uint8Array;
    const trace = new Trace(isRaw ? await unpack(given) : readInflated(given.bytes));
    speak(trace.origin.language);
    readMemoryAhead(trace, isRaw ? undefined : given.reader);
    await pause();
    const store = new Store(trace);
    if (view && view !== store.state.mode) {
      store.update({ mode: view });
    }
    const measure = new TextMeasure(readFont());
    const runner = await loading;
    await pause();
    const picture = new Picture(store, measure, runner);
    picture.room = likelyRoom();
    await begun(picture);
    const dispose = (): void => {
      picture.dispose();
      runner.dispose();
    };
    return { store, measure, picture, dispose };
  } catch (error) {
    void loading.then((runner) => runner.dispose()).catch(() => {});
    throw error;
  }
}

/** Goes on at once, unless the worker needs the page to start: who lays out must be there when it is asked. */
function pause(): Promise<void> {
  return isWorkerStarting() ? nextTask() : breath();
}

/** Begin with a picture; resolves once its layout is under way, or all is done, or after a while. */
function begun(picture: Picture): Promise<void> {
  return new Promise((resolve) => {
    const nothing = (): void => {};
    const ignored = { composed: nothing, busy: nothing, progress: nothing, failed: nothing };
    picture.listen({ ...ignored, arranged: () => resolve() });
    void picture.refresh().then(resolve);
    setTimeout(resolve, ARRANGING_LIMIT_MS);
  });
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
  options: AppOptions & { readonly view?: Mode },
  signal?: AbortSignal,
): Promise<App | undefined> {
  try {
    const isRaw = payload instanceof Uint8Array;
    const prepared = await (isRaw ? prepare(payload, options.view) : payload);
    if (signal?.aborted) {
      prepared.dispose();
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

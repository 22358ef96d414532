/** The door for a page without Jupyter: shows the payload that the page carries. */

import { carriesBokeh, loadBokeh } from "./charts/bokeh_loader.ts";
import { showFailure } from "./dom/failure.ts";
import { arrivingPayload } from "./loading/arriving_payload.ts";
import { showPayload } from "./payload.ts";

async function start(): Promise<void> {
  const root = document.querySelector<HTMLElement>("#pdl-root");
  if (!root) {
    return;
  }
  // What the page shows where scripts do not run gives way.
  root.replaceChildren();
  try {
    const app = await showPayload(root, arrivingPayload(document), { isStandalone: true });
    await app?.ready;
    root.dataset.state = app ? "ready" : "failed";
    if (app && carriesBokeh()) {
      // A chart that is shown before that loads it itself, and reports a failure.
      const whenIdle = globalThis.requestIdleCallback ?? setTimeout;
      whenIdle(() => void loadBokeh().catch(() => {}));
    }
  } catch (error) {
    showFailure(root, error);
    root.dataset.state = "failed";
  }
}

void start();

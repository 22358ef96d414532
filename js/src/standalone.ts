/** The door for a page without Jupyter: shows the payload that the page carries. */

import { showFailure } from "./dom/failure.ts";
import { pagePayload } from "./loading/page_payload.ts";
import { showPayload } from "./payload.ts";

async function start(): Promise<void> {
  const root = document.querySelector<HTMLElement>("#pdl-root");
  if (!root) {
    return;
  }
  // What the page shows where scripts do not run gives way.
  root.replaceChildren();
  try {
    const app = await showPayload(root, pagePayload(document), { isStandalone: true });
    await app?.ready;
    root.dataset.state = app ? "ready" : "failed";
  } catch (error) {
    showFailure(root, error);
    root.dataset.state = "failed";
  }
}

void start();

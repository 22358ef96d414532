/** The entry point of a page without Jupyter: shows the payload in the page. */

import { showFailure } from "./dom/failure.ts";
import { pagePayload } from "./loading/page_payload.ts";
import { showPayload } from "./payload.ts";

async function start(): Promise<void> {
  const root = document.querySelector<HTMLElement>("#pdl-root");
  if (!root) {
    return;
  }
  // Remove the content for browsers without scripts.
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

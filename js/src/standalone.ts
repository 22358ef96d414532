/** The door for a page without Jupyter: shows the payload that the page carries. */
import { decodeBase64 } from "./base64.ts";
import { carriesBokeh, loadBokeh } from "./charts/bokeh_loader.ts";
import { showFailure } from "./failure.ts";
import { showPayload } from "./payload.ts";

async function start(): Promise<void> {
  const root = document.querySelector<HTMLElement>("#pdl-root");
  const data = document.querySelector("#pdl-data");
  if (!root) {
    return;
  }
  // What the page shows where scripts do not run gives way.
  root.replaceChildren();
  try {
    const bytes = payloadIn(data?.textContent ?? "");
    const app = await showPayload(root, bytes, { isStandalone: true });
    await app?.ready;
    root.dataset.state = app ? "ready" : "failed";
    if (app && carriesBokeh()) {
      // Whoever shows a chart before loads it then, and tells of a failure.
      const whenIdle = globalThis.requestIdleCallback ?? setTimeout;
      whenIdle(() => void loadBokeh().catch(() => {}));
    }
  } catch (error) {
    showFailure(root, error);
    root.dataset.state = "failed";
  }
}

function payloadIn(text: string): Uint8Array {
  try {
    return decodeBase64(text);
  } catch (error) {
    throw new Error("This page is cut short or altered; save it again.", { cause: error });
  }
}

void start();

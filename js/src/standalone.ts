/** The door for a page without Jupyter: shows the payload that the page carries. */
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
    const bytes = decodeBase64(data?.textContent ?? "");
    const app = await showPayload(root, bytes, { isStandalone: true });
    await app?.ready;
    root.dataset.state = app ? "ready" : "failed";
  } catch (error) {
    showFailure(root, error);
    root.dataset.state = "failed";
  }
}

function decodeBase64(text: string): Uint8Array {
  try {
    const characters = atob(text.trim());
    const bytes = new Uint8Array(characters.length);
    for (let at = 0; at < bytes.length; at++) {
      bytes[at] = characters.charCodeAt(at);
    }
    return bytes;
  } catch (error) {
    throw new Error("This page is cut short or altered; save it again.", { cause: error });
  }
}

void start();

/** The payload in a saved page, in pieces of base64. */
import { decodeBase64 } from "../trace/base64.ts";
import { t } from "../words/loader.ts";

/** Must be the same as in paddle_lab/views/html/page.py. */
const PIECES = 'script[type="application/x-paddle-lab"]';

/** @throws Error with a sentence for the user, if the page was altered */
export async function pagePayload(page: Document): Promise<Uint8Array> {
  // The script of the page runs before the payload has arrived.
  while (page.readyState === "loading") {
    await new Promise((resolve) => page.addEventListener("readystatechange", resolve));
  }
  const pieces = Array.from(page.querySelectorAll(PIECES), ({ textContent }) => textContent ?? "");
  try {
    return new Uint8Array(await new Blob(pieces.map(decodeBase64)).arrayBuffer());
  } catch (error) {
    throw new Error(t("cut_short"), { cause: error });
  }
}

/**
 * The pieces of base64 that carry a saved page's payload, while the page still arrives.
 *
 * A page with many allocations is so large that its text arrives in hundreds of steps, between which
 * scripts run. In one element it would be copied at each of them.
 */

/** As in paddle_lab/views/html/page.py. */
const PIECE = 'script[type="application/x-paddle-lab"]';
/** A look at what has arrived costs little, a message to a worker more. */
const LOOK_MS = 10;

/** Texts in their order, as many at a time as have arrived; ends with the last. */
export async function* pagePieces(page: Document): AsyncGenerator<string[], void> {
  const scripts = page.getElementsByTagName("script");
  let next = 0;
  for (;;) {
    const hasEnded = page.readyState !== "loading";
    const texts: string[] = [];
    for (; next < scripts.length; next++) {
      const script = scripts[next]!;
      // Of the last one the rest may still be on its way.
      if (!hasEnded && !script.nextElementSibling) {
        break;
      }
      if (script.matches(PIECE)) {
        texts.push(script.textContent);
      }
    }
    if (texts.length) {
      yield texts;
    }
    if (hasEnded) {
      return;
    }
    await laterOrAtEnd(page);
  }
}

async function laterOrAtEnd(page: Document): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(go, LOOK_MS);
    page.addEventListener("readystatechange", go);
    function go(): void {
      clearTimeout(timer);
      page.removeEventListener("readystatechange", go);
      resolve();
    }
  });
}

/**
 * The pieces of base64 that carry a saved page's payload, while the page still arrives.
 *
 * A page with many allocations is so large that its text arrives in hundreds of steps, between which
 * scripts run. In one element it would be copied at each of them.
 */

/** As in paddle_lab/views/html_page.py. */
const PIECE = 'script[type="application/x-paddle-lab"]';
const END = "pdl-data-end";

/** Texts in their order, as many at a time as have arrived; ends with the last. */
export async function* pagePieces(page: Document): AsyncGenerator<string[], void> {
  const pieces = page.getElementsByTagName("script");
  let next = 0;
  for (;;) {
    const hasEnded = page.readyState !== "loading" || page.getElementById(END) !== null;
    const texts: string[] = [];
    for (; next < pieces.length; next++) {
      const piece = pieces[next]!;
      // Of the last one the rest may still be on its way.
      if (!hasEnded && !piece.nextElementSibling) {
        break;
      }
      if (piece.matches(PIECE)) {
        texts.push(piece.textContent);
      }
    }
    if (texts.length) {
      yield texts;
    }
    if (hasEnded) {
      return;
    }
    await nextArrival(page);
  }
}

/** Resolves once more of the page is there. */
async function nextArrival(page: Document): Promise<void> {
  await new Promise<void>((resolve) => {
    const observer = new MutationObserver(arrived);
    observer.observe(page, { childList: true, subtree: true });
    page.addEventListener("readystatechange", arrived);
    function arrived(): void {
      observer.disconnect();
      page.removeEventListener("readystatechange", arrived);
      resolve();
    }
  });
}

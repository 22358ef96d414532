/** The payload of a saved page, which is read while it arrives where it is large. */
import { decodeBase64 } from "../trace/base64.ts";
import { streamStart } from "../trace/unpack.ts";
import { t } from "../words/loader.ts";
import { pagePieces } from "./page_pieces.ts";
import { type Inflated, Reader } from "./reader.ts";

/** Fewer pieces are soon decoded: to start a worker takes as long. */
const LARGE_PIECES = 32;

/** @throws Error in a sentence for people, if it is no trace, or the page was altered */
export async function arrivingPayload(page: Document): Promise<Uint8Array | Inflated> {
  const texts: string[] = [];
  let reader: Reader | undefined;
  for await (const arrived of pagePieces(page)) {
    texts.push(...arrived);
    if (reader) {
      reader.add(arrived);
    } else if (texts.length >= LARGE_PIECES && typeof Worker !== "undefined") {
      const [first, ...rest] = texts;
      const bytes = decoded([first!]);
      reader = new Reader();
      reader.add([bytes.slice(streamStart(bytes)), ...rest]);
    }
  }
  if (reader) {
    try {
      return { bytes: await reader.inflated(), reader };
    } catch {
      // Where workers are not allowed the page reads it; what is damaged is told there.
      reader.dispose();
    }
  }
  return decoded(texts);
}

function decoded(texts: readonly string[]): Uint8Array<ArrayBuffer> {
  let parts: Uint8Array<ArrayBuffer>[];
  try {
    parts = texts.map(decodeBase64);
  } catch (error) {
    throw new Error(t("cut_short"), { cause: error });
  }
  if (parts.length === 1) {
    return parts[0]!;
  }
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

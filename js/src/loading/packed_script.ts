/** Loads a script that a module contains as base64 of a zlib stream (in `widget.ts`: the view). */
import { decodeBase64 } from "../trace/base64.ts";
import { inflate } from "../trace/inflate.ts";

/** @returns the text of the script, whose variable `bundled` has the exports */
export async function unpackScript(packed: string): Promise<string> {
  return new TextDecoder().decode(await inflate(decodeBase64(packed)));
}

/** Run a script and return its exports. It is loaded from a blob, like widgets. */
export async function importScript<Exports>(script: string): Promise<Exports> {
  const blob = new Blob([`${script}\n;export default bundled;`], { type: "text/javascript" });
  const address = URL.createObjectURL(blob);
  try {
    const module: { default: Exports } = await import(/* @vite-ignore */ address);
    return module.default;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Scripts that a module carries packed as base64 of a zlib stream (`widget.ts` gets the view so). */
import { decodeBase64 } from "../trace/base64.ts";
import { inflate } from "../trace/inflate.ts";

/** The script's text; what it exports is in its variable `bundled`. */
export async function unpackScript(packed: string): Promise<string> {
  return new TextDecoder().decode(await inflate(decodeBase64(packed)));
}

/** Run a script and get its exports. It is loaded as a widget itself is: from a blob. */
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

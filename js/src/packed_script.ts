/** Scripts that a module carries packed (see `inline_worker.mjs`). */
import { inflate } from "./model/inflate.ts";

/** The script's text; what it exports is in its variable `bundled`. */
export async function unpackScript(packed: string): Promise<string> {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(await inflate(bytes));
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

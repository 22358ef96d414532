/** Unpacks the layout's script and has a worker run it, or the page itself. */
import packedScript from "packed-script:./layout/worker_entry.ts";
import { createLayoutRunner, type LayoutFunction, type LayoutRunner } from "./layout/index.ts";
import { inflate } from "./model/inflate.ts";

export async function loadLayout(): Promise<LayoutRunner> {
  const bytes = Uint8Array.from(atob(packedScript), (character) => character.charCodeAt(0));
  const script = new TextDecoder().decode(await inflate(bytes));
  const layoutHere: LayoutFunction = async (graph, options) => {
    const { layoutNested } = await importScript(script);
    return layoutNested(graph, options);
  };
  return createLayoutRunner(layoutHere, `${script};bundled.serve()`);
}

/** As the widget itself is loaded: where its module may run, this may. */
async function importScript(script: string): Promise<typeof import("./layout/worker_entry.ts")> {
  const blob = new Blob([`${script};export const { layoutNested } = bundled;`], {
    type: "text/javascript",
  });
  const address = URL.createObjectURL(blob);
  try {
    return await import(/* @vite-ignore */ address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

// Imports the page's TypeScript as a module that Node can run.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const JS = fileURLToPath(new URL("../js", import.meta.url));

/** Import the exports of these lines of TypeScript; their paths are relative to `js/`. */
export async function fromSource(contents) {
  const bundle = await createRequire(`${JS}/package.json`)("esbuild").build({
    stdin: { contents, resolveDir: JS, loader: "ts" },
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
  });
  const source = Buffer.from(bundle.outputFiles[0].contents).toString("base64");
  return import(`data:text/javascript;base64,${source}`);
}

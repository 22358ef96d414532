// `import text from "packed-script:./worker_entry.ts"` gives a bundled script, which leaves its exports
// in the variable `bundled`, as base64 of a zlib stream. A widget is one module from one string, so
// it has no address from which to fetch a second file, and every notebook that is saved carries that
// string: packed, it takes half the bytes.
import { dirname, resolve } from "node:path";
import { deflateSync } from "node:zlib";
import * as esbuild from "esbuild";

const SCHEME = "packed-script:";

/**
 * @param {{ minify: boolean, style: string }} options `style` is the built style sheet
 * @returns {esbuild.Plugin}
 */
export function inlineWorker({ minify, style }) {
  return {
    name: "packed-script",
    setup(build) {
      build.onResolve({ filter: /^packed-script:/ }, (args) => ({
        path: resolve(
          args.importer ? dirname(args.importer) : args.resolveDir,
          args.path.slice(SCHEME.length),
        ),
        namespace: "packed-script",
      }));
      build.onLoad({ filter: /.*/, namespace: "packed-script" }, async (args) => {
        const result = await esbuild.build({
          entryPoints: [args.path],
          bundle: true,
          write: false,
          minify,
          format: "iife",
          globalName: "bundled",
          target: "es2022",
          charset: "utf8",
          sourcemap: minify ? false : "inline",
          metafile: true,
          loader: { ".css": "text" },
          alias: { "built-widget.css": style },
          plugins: [inlineWorker({ minify, style })],
        });
        const watchFiles = Object.keys(result.metafile.inputs).map((path) => resolve(path));
        const packed = deflateSync(result.outputFiles[0].contents, { level: 9 });
        return { contents: packed.toString("base64"), loader: "text", watchFiles };
      });
    },
  };
}

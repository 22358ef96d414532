// `import source from "inline-worker:./worker_entry.ts"` gives the bundled text of a worker.
// A widget is one module from one string: it has no address from which to fetch a second file.
import { dirname, resolve } from "node:path";
import * as esbuild from "esbuild";

const SCHEME = "inline-worker:";

/**
 * @param {{ minify: boolean }} options
 * @returns {esbuild.Plugin}
 */
export function inlineWorker({ minify }) {
  return {
    name: "inline-worker",
    setup(build) {
      build.onResolve({ filter: /^inline-worker:/ }, (args) => ({
        path: resolve(
          args.importer ? dirname(args.importer) : args.resolveDir,
          args.path.slice(SCHEME.length),
        ),
        namespace: "inline-worker",
      }));
      build.onLoad({ filter: /.*/, namespace: "inline-worker" }, async (args) => {
        const result = await esbuild.build({
          entryPoints: [args.path],
          bundle: true,
          write: false,
          minify,
          format: "iife",
          target: "es2022",
          metafile: true,
        });
        const watchFiles = Object.keys(result.metafile.inputs).map((path) => resolve(path));
        return { contents: result.outputFiles[0].text, loader: "text", watchFiles };
      });
    },
  };
}

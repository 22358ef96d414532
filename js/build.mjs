// Builds the front end into the Python package:
//   paddle_lab/static/widget.js, widget.css   the graph widget's module, as anywidget loads it; its styles
//   paddle_lab/static/widget_view.js          what that module runs, unless the plugin has it
//   paddle_lab/static/live.js                 the live chart's module
//   paddle_lab/static/standalone.js           the same views for a page without Jupyter
//   paddle_lab/labextension/                  the prebuilt JupyterLab plugin, with BokehJS beside it
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const STATIC = join(HERE, "../paddle_lab/static");
const LABEXTENSION = join(HERE, "../paddle_lab/labextension");
const STYLE = join(STATIC, "widget.css");
const LIVE_STYLE = join(HERE, "lib/live.css");
const PLUGIN = join(HERE, "lib/labextension");
// Every saved widget carries its module, so each byte is in every notebook.
const BUDGETS_BYTES = { "widget.js": 10_000, "live.js": 60_000 };

const SIZED = ["widget.js", "widget_view.js", "widget.css", "live.js", "standalone.js"];

const watch = process.argv.includes("--watch");

/** @type {esbuild.BuildOptions} */
const views = {
  absWorkingDir: HERE,
  bundle: true,
  minify: !watch,
  sourcemap: watch ? "inline" : false,
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  logLevel: "info",
};

/** All styles of the views in one file: the page without Jupyter inlines it, scripts import it. */
/** @type {esbuild.BuildOptions} */
const style = {
  ...views,
  entryPoints: ["src/views/styles/style.css"],
  outfile: STYLE,
};

/** @type {esbuild.BuildOptions} */
const widget = {
  ...views,
  entryPoints: ["src/widget.ts"],
  outfile: join(STATIC, "widget.js"),
  format: "esm",
};

/** What the graph widget's module runs: the same for the plugin, if the builds agree. */
/** @type {esbuild.BuildOptions} */
const widgetView = {
  ...views,
  entryPoints: ["src/widget_view.ts"],
  outfile: join(STATIC, "widget_view.js"),
  format: "iife",
  globalName: "bundled",
  loader: { ".css": "text" },
  alias: { "built-widget.css": STYLE },
};

/** @type {esbuild.BuildOptions} */
const liveStyle = {
  ...views,
  entryPoints: ["src/live/live.css"],
  outfile: LIVE_STYLE,
};

/** @type {esbuild.BuildOptions} */
const live = {
  ...views,
  entryPoints: ["src/live.ts"],
  outfile: join(STATIC, "live.js"),
  format: "esm",
  loader: { ".css": "text" },
  alias: { "built-live.css": LIVE_STYLE },
};

/** @type {esbuild.BuildOptions} */
const standalone = {
  ...views,
  entryPoints: ["src/standalone.ts"],
  outfile: join(STATIC, "standalone.js"),
  format: "iife",
};

/** @type {esbuild.BuildOptions} */
const labextension = {
  ...views,
  entryPoints: ["src/labextension/index.ts"],
  outdir: PLUGIN,
  format: "esm",
  // The builder makes it small; before, it has to read in comments which imports to leave alone.
  minify: false,
  // The views are loaded with the first graph that needs them.
  splitting: true,
  loader: { ".css": "text" },
  alias: { "built-widget.css": STYLE },
  // JupyterLab's own modules come from the page the plugin is loaded into.
  external: ["@jupyterlab/*", "@lumino/*"],
};

/** The plugin is a package of its own to JupyterLab: its metadata is written beside its bundle. */
function buildLabextension() {
  const { name, version, description, license } = JSON.parse(
    readFileSync(join(HERE, "package.json"), "utf8"),
  );
  const plugin = {
    name,
    version,
    description,
    license,
    main: "index.js",
    dependencies: {},
    jupyterlab: { extension: true, outputDir: relative(PLUGIN, LABEXTENSION) },
  };
  writeFileSync(join(PLUGIN, "package.json"), JSON.stringify(plugin));
  const require = createRequire(import.meta.url);
  const builder = join(
    dirname(require.resolve("@jupyter/builder/package.json")),
    "lib/build-labextension.js",
  );
  const core = join(
    dirname(require.resolve("@jupyterlab/core-meta/package.json", { paths: [builder] })),
    "core.package.json",
  );
  execFileSync(process.execPath, [builder, "--core-package-file", core, PLUGIN], {
    cwd: HERE,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Charts fetch BokehJS from the plugin's files (see `src/charts/bokeh_loader.ts`). */
function copyBokeh() {
  const require = createRequire(import.meta.url);
  const scripts = dirname(require.resolve("@bokeh/bokehjs/build/js/bokeh.esm.min.js"));
  const { version } = JSON.parse(readFileSync(join(scripts, "../../package.json"), "utf8"));
  const loader = readFileSync(join(HERE, "src/charts/bokeh_loader.ts"), "utf8");
  if (!loader.includes(`BOKEH_VERSION = "${version}"`)) {
    throw new Error(`src/charts/bokeh_loader.ts names another BokehJS than ${version}.`);
  }
  const folder = join(LABEXTENSION, `static/bokeh-${version}`);
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(scripts, "bokeh.esm.min.js"), join(folder, "bokeh.esm.min.js"));
}

/** Tells builds of the view apart: Python computes the same of the same file. */
function viewBuild() {
  return createHash("sha256").update(readFileSync(widgetView.outfile)).digest("hex").slice(0, 16);
}

function reportSizes() {
  for (const name of SIZED) {
    const bytes = readFileSync(join(STATIC, name));
    const gzipped_bytes = gzipSync(bytes).length;
    console.log(
      `${relative(join(HERE, ".."), join(STATIC, name)).padEnd(36)}` +
        `${(bytes.length / 1000).toFixed(1).padStart(8)} kB${(gzipped_bytes / 1000).toFixed(1).padStart(8)} kB gzip`,
    );
  }
  for (const [name, budget_bytes] of Object.entries(BUDGETS_BYTES)) {
    const { size } = statSync(join(STATIC, name));
    if (size > budget_bytes) {
      throw new Error(
        `${name} has ${size} bytes; its budget is ${budget_bytes}, since every saved notebook carries it.`,
      );
    }
  }
}

if (watch) {
  await Promise.all([style, liveStyle].map((options) => esbuild.build(options)));
  for (const options of [widget, widgetView, live, standalone]) {
    const context = await esbuild.context(options);
    await context.watch();
  }
} else {
  rmSync(PLUGIN, { recursive: true, force: true });
  // The others take it in.
  await Promise.all([style, liveStyle].map((options) => esbuild.build(options)));
  await Promise.all(
    [widget, widgetView, live, standalone].map((options) => esbuild.build(options)),
  );
  await esbuild.build({ ...labextension, define: { VIEW_BUILD: JSON.stringify(viewBuild()) } });
  buildLabextension();
  copyBokeh();
  reportSizes();
}

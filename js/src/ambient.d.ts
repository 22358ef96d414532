/** The bundled source of a worker, as text (see `inline_worker.mjs`). */
declare module "inline-worker:*" {
  const source: string;
  export default source;
}

/** Styles: written beside the bundle; in the JupyterLab plugin, the text itself. */
declare module "*.css" {
  const text: string;
  export default text;
}

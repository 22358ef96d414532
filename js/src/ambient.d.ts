/** Styles: written beside the bundle; in the JupyterLab plugin, the text itself. */
declare module "*.css" {
  const text: string;
  export default text;
}

/** In the JupyterLab plugin: which build of the view it has. */
declare const VIEW_BUILD: string;

/** Styles: a file next to the bundle or, in the JupyterLab plugin, the text of the styles. */
declare module "*.css" {
  const text: string;
  export default text;
}

/** The build of the view that the JupyterLab plugin contains. */
declare const VIEW_BUILD: string;

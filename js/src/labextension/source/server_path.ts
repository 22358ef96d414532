/**
 * The path of `file` for Jupyter's contents service, or `null` if the service cannot open it.
 *
 * `root_uri` is `file:///…` (from JupyterLab's support for language servers). `server_root` is the
 * same directory, but with `~` for the home directory. The server refuses names that begin with a
 * dot, so files of packages in a `.venv` cannot be opened.
 */
export function serverPath(
  file: string,
  options: { readonly root_uri: string; readonly server_root: string },
): string | null {
  const path = file.replaceAll("\\", "/");
  const root = rootDirectory(options.root_uri, options.server_root);
  if (root === null) return null;
  const prefix = root.endsWith("/") ? root : `${root}/`;
  if (!path.startsWith(prefix)) return null;
  const inside = path.slice(prefix.length).split("/");
  if (inside.some((part) => part === "" || part.startsWith("."))) return null;
  return inside.join("/");
}

function rootDirectory(root_uri: string, server_root: string): string | null {
  if (root_uri.startsWith("file:///")) {
    try {
      const path = decodeURIComponent(root_uri.slice("file://".length));
      // The path of file:///C:/work begins with a slash.
      return /^\/[A-Za-z]:/.test(path) ? path.slice(1) : path;
    } catch {
      return null;
    }
  }
  const path = server_root.replaceAll("\\", "/");
  return path.startsWith("/") || /^[A-Za-z]:/.test(path) ? path : null;
}

import type { JupyterFrontEnd } from "@jupyterlab/application";
import { PageConfig } from "@jupyterlab/coreutils";
import type { CellEditor } from "@jupyterlab/notebook";
import { type FoundLine, findLine } from "./line_now.ts";
import { markLine } from "./mark_line.ts";
import type { OpenSourceRequest } from "./request.ts";
import { serverPath } from "./server_path.ts";

/** The used parts of a file editor's widget. */
interface FileWidget {
  readonly context: {
    readonly path: string;
    readonly ready: Promise<void>;
    readonly model: { toString(): string };
  };
  readonly content: { readonly editor?: CellEditor };
  setFragment(fragment: string): void;
}

/** Shows a line of a file in an editor; `null` if the application cannot do this. */
export function openFile(app: JupyterFrontEnd, request: OpenSourceRequest): Promise<void> | null {
  // Notebook 7 opens a file in another browser tab, at the first line.
  if (app.name !== "JupyterLab" || !app.commands.hasCommand("docmanager:open")) return null;
  const path = serverPath(request.file, {
    root_uri: PageConfig.getOption("rootUri"),
    server_root: PageConfig.getOption("serverRoot"),
  });
  return path === null ? null : openPath(app, path, request);
}

async function openPath(
  app: JupyterFrontEnd,
  path: string,
  request: OpenSourceRequest,
): Promise<void> {
  let now: string;
  try {
    now = await textOf(app, path);
  } catch (error) {
    request.tell?.({ state: "missing" });
    throw error;
  }
  const found = lineIn(request, now);
  if (found === undefined) {
    request.tell?.({ state: "gone", show: () => void openedFile(app, path) });
    return;
  }
  const { line, isChanged } = found;
  const state = line === request.line ? "kept" : "moved";
  const words = isChanged ? (request.tell?.({ state, line }) ?? "") : "";
  const widget = await openedFile(app, path);
  const { editor } = widget.content;
  if (editor) await markLine(editor, line, words);
  // In a fragment, the line number is the number of lines before the line (RFC 5147).
  else widget.setFragment(`#line=${line - 1}`);
}

function lineIn(request: OpenSourceRequest, now: string): FoundLine | undefined {
  const { source_text, first_line: firstLine = 1, line } = request;
  if (source_text === undefined) return { line, isChanged: false };
  return findLine({ lines: source_text.split("\n"), firstLine, isWhole: false }, line, now);
}

/** The text of the file, including unsaved changes in an editor. */
async function textOf(app: JupyterFrontEnd, path: string): Promise<string> {
  for (const widget of app.shell.widgets("main")) {
    const { context } = widget as Partial<FileWidget>;
    if (context?.path !== path) continue;
    await context.ready;
    return context.model.toString();
  }
  const asked = { type: "file", format: "text", content: true } as const;
  const { content } = await app.serviceManager.contents.get(path, asked);
  if (typeof content !== "string") throw new TypeError(`${path} is no text.`);
  return content;
}

async function openedFile(app: JupyterFrontEnd, path: string): Promise<FileWidget> {
  const widget = (await app.commands.execute("docmanager:open", { path })) as FileWidget;
  await widget.context.ready;
  return widget;
}

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import { installStyle } from "../dom/install_style.ts";
import { offerView } from "../offered_view.ts";
import { reportCleared } from "./cleared_output.ts";
import { onFirstUse } from "./first_use.ts";
import { GRAPH_MIME_TYPE, LIVE_MIME_TYPE } from "./graph_mime.ts";
import { GraphRenderer } from "./graph_renderer.ts";
import { LiveRenderer } from "./live_renderer.ts";
import { type Page, rendererFactory } from "./output_renderer.ts";
import { findCell } from "./source/find_cell.ts";
import flash_css from "./source/flash.css";
import { revealCell } from "./source/mark_line.ts";
import { openFile } from "./source/open_file.ts";
import { OPEN_SOURCE_EVENT, type OpenSourceRequest, readRequest } from "./source/request.ts";

/** A lower rank than that of widgets, which is -10, so that these renderers are preferred. */
const GRAPH_RANK = -20;

/** Draws the graphs of traced cells, even if their widgets are gone. */
const graphs: JupyterFrontEndPlugin<void> = {
  id: "paddle-lab:graphs",
  description: "Shows the graph of a traced cell with and without a kernel.",
  autoStart: true,
  requires: [IRenderMimeRegistry, INotebookTracker],
  activate(app: JupyterFrontEnd, rendermime: IRenderMimeRegistry, tracker: INotebookTracker) {
    const page: Page = {
      plugins: app,
      panelAround: (node) => tracker.find((panel) => panel.node.contains(node)) ?? null,
      reportCleared: (panel, data) => reportCleared(tracker, panel, data),
    };
    const load = () => import("../widget_view.ts");
    offerView({ build: VIEW_BUILD, load });
    // A later output loads the code again, and reports the failure.
    onFirstUse(tracker, () => void load().catch(() => {}));
    for (const factory of [
      rendererFactory(GRAPH_MIME_TYPE, () => new GraphRenderer(page)),
      rendererFactory(LIVE_MIME_TYPE, () => new LiveRenderer(page)),
    ]) {
      rendermime.addFactory(factory, GRAPH_RANK);
    }
  },
};

/**
 * Handles requests of views to show a line of source. It shows the line in the notebook if the line
 * is in a cell, otherwise in a file editor if the server can open the file. If it will show the
 * line, it calls `preventDefault()` at once; otherwise the view shows the line.
 */
const openSource: JupyterFrontEndPlugin<void> = {
  id: "paddle-lab:open-source",
  description: "Shows the notebook cell or the file behind an op of a Paddle trace.",
  autoStart: true,
  requires: [INotebookTracker],
  activate(app: JupyterFrontEnd, tracker: INotebookTracker): void {
    installStyle(flash_css, "paddle-lab-flash-style");
    document.addEventListener(OPEN_SOURCE_EVENT, (event) => {
      const request = readRequest(event);
      if (request === null) return;
      const task = openCell(app, tracker, request, event.target) ?? openFile(app, request);
      if (task === null) return;
      event.preventDefault();
      task.catch((error: unknown) => {
        console.error(`Paddle Lab could not show ${request.file}, line ${request.line}.`, error);
      });
    });
  },
};

function openCell(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  request: OpenSourceRequest,
  target: EventTarget | null,
): Promise<void> | null {
  const panel = panelOf(tracker, target);
  if (panel === null) return null;
  const cells = panel.content.widgets.map(({ model }) => ({
    id: model.id,
    execution_count: model.type === "code" ? (model.executionCount ?? null) : null,
    text: model.sharedModel.getSource(),
  }));
  const found = findCell(cells, request);
  if (found === null) {
    if (request.cell !== undefined && request.source_text !== undefined) {
      request.tell?.({ state: "missing" });
    }
    return null;
  }
  const { index, line, isChanged } = found;
  const show = (words = ""): Promise<void> => {
    if (app.shell.currentWidget !== panel) app.shell.activateById(panel.id);
    return revealCell(panel, index, line, words);
  };
  if (!isChanged) return show();
  if (line === undefined) {
    request.tell?.({ state: "gone", show: () => void show() });
    return Promise.resolve();
  }
  return show(request.tell?.({ state: line === request.line ? "kept" : "moved", line }));
}

/** The notebook that contains the view; for a view outside of notebooks, the notebook used last. */
function panelOf(tracker: INotebookTracker, target: EventTarget | null): NotebookPanel | null {
  const around =
    target instanceof Node ? tracker.find((panel) => panel.node.contains(target)) : undefined;
  return around ?? tracker.currentWidget;
}

export default [graphs, openSource];

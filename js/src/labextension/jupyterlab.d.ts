/**
 * Declares the parts of JupyterLab that the plugin uses. The page provides the modules at run time.
 * With these declarations the build does not need some hundred packages.
 */

declare module "@jupyterlab/application" {
  export interface JupyterFrontEnd {
    readonly name: string;
    hasPlugin(id: string): boolean;
    readonly commands: {
      hasCommand(id: string): boolean;
      execute(id: string, args?: Record<string, unknown>): Promise<unknown>;
    };
    readonly serviceManager: {
      readonly contents: {
        get(
          path: string,
          options: { readonly type: "file"; readonly format: "text"; readonly content: boolean },
        ): Promise<{ readonly content: unknown }>;
      };
    };
    readonly shell: {
      readonly currentWidget: object | null;
      widgets(area: string): Iterable<object>;
      activateById(id: string): void;
    };
  }
  export interface JupyterFrontEndPlugin<T> {
    id: string;
    description: string;
    autoStart: boolean;
    requires?: unknown[];
    activate(app: JupyterFrontEnd, ...services: never[]): T;
  }
}

declare module "@jupyterlab/coreutils" {
  export namespace PageConfig {
    /** Returns "" if the page does not have this option. */
    function getOption(name: string): string;
  }
}

declare module "@jupyterlab/rendermime" {
  import type { Widget } from "@lumino/widgets";

  export interface MimeModel {
    readonly data: Readonly<Record<string, unknown>>;
  }
  export interface Renderer extends Widget {
    renderModel(model: MimeModel): Promise<void>;
  }
  export interface RendererFactory {
    readonly safe: boolean;
    readonly mimeTypes: readonly string[];
    createRenderer(): Renderer;
  }
  export interface IRenderMimeRegistry {
    /** If an output has several types, the type with the lowest rank is shown. */
    addFactory(factory: RendererFactory, rank: number): void;
    getFactory(mime_type: string): RendererFactory | undefined;
    createRenderer(mime_type: string): Renderer;
  }
  export const IRenderMimeRegistry: unknown;
}

declare module "@lumino/widgets" {
  import type { ISignal } from "@lumino/signaling";

  export class Widget {
    readonly node: HTMLElement;
    readonly isAttached: boolean;
    readonly isDisposed: boolean;
    readonly disposed: ISignal<void>;
    parent: Widget | null;
    dispose(): void;
    protected onAfterAttach(): void;
  }
  export class Panel extends Widget {
    readonly widgets: readonly Widget[];
    readonly layout: { removeWidget(widget: Widget): void } | null;
    addWidget(widget: Widget): void;
  }
}

declare module "@lumino/signaling" {
  export interface ISignal<T> {
    connect(slot: (sender: unknown, args: T) => void): boolean;
    disconnect(slot: (sender: unknown, args: T) => void): boolean;
  }
}

declare module "@jupyterlab/notebook" {
  import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
  import type { ISignal } from "@lumino/signaling";

  export interface EditorPosition {
    readonly line: number;
    readonly column: number;
  }
  export interface CellEditor {
    readonly lineCount: number;
    readonly lineHeight: number;
    readonly host: HTMLElement;
    getLine(line: number): string | undefined;
    setSelection(selection: { start: EditorPosition; end: EditorPosition }): void;
    revealPosition(position: EditorPosition): void;
    /** The position in page coordinates; `null` if the editor has no layout yet. */
    getCoordinateForPosition(position: EditorPosition): { top: number; bottom: number } | null;
    focus(): void;
  }
  export interface Cell {
    readonly node: HTMLElement;
    readonly ready: Promise<void>;
    readonly editor: CellEditor | null;
    inputHidden: boolean;
    readonly model: {
      readonly id: string;
      readonly type: string;
      /** The execution count, which only code cells have. */
      readonly executionCount?: number | null;
      readonly sharedModel: { getSource(): string };
    };
  }
  /** The outputs of a code cell. */
  export interface Outputs {
    readonly length: number;
    get(index: number): { readonly data: Readonly<Record<string, unknown>> };
  }
  export interface NotebookPanel {
    readonly id: string;
    readonly node: HTMLElement;
    readonly isDisposed: boolean;
    readonly sessionContext: {
      /** The messages that the kernel sends to all pages. */
      readonly iopubMessage: ISignal<KernelMessage>;
      readonly ready: Promise<void>;
      readonly session: {
        readonly kernel: { readonly id: string; readonly status: string } | null;
      } | null;
    };
    readonly content: {
      readonly rendermime: IRenderMimeRegistry;
      readonly widgets: readonly Cell[];
      /** `null` until the notebook was read. */
      readonly model: { readonly cells: Iterable<{ readonly outputs?: Outputs }> } | null;
      activeCellIndex: number;
      mode: "command" | "edit";
      scrollToCell(cell: Cell, align?: string): Promise<void>;
    };
  }
  export interface KernelMessage {
    readonly header: { readonly msg_type: string };
    readonly content: Readonly<Record<string, unknown>>;
  }
  export interface INotebookTracker {
    readonly currentWidget: NotebookPanel | null;
    readonly widgetAdded: ISignal<NotebookPanel>;
    forEach(act: (panel: NotebookPanel) => void): void;
    find(test: (panel: NotebookPanel) => boolean): NotebookPanel | undefined;
  }
  export const INotebookTracker: unknown;
}

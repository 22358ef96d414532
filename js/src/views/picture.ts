/** Keeps the picture in step with the store: arrange, lay out in the background, compose. */
import {
  LayoutCancelled,
  type LayoutRunner,
  type NestedGraph,
  type RunnerOptions,
} from "../layout/index.ts";
import type { Store, ViewState } from "../model/store.ts";
import type { VisibleTree } from "../model/visible.ts";
import { arrange, compose } from "./arrange.ts";
import { arrangeLadder } from "./ladder_rows.ts";
import { composeLadder } from "./ladder_scene.ts";
import type { TextMeasure } from "./measure.ts";
import type { Scene } from "./scene.ts";

const LAYOUT: RunnerOptions = { nodeGap: 28, rankGap: 34, groupPaddingPx: 18, groupTitlePx: 26 };

/** Parts of the state that change what is laid out. */
const SHAPING = [
  "mode",
  "backwardCall",
  "open",
  "unfolded",
  "showParameters",
  "showOptimizer",
] as const satisfies readonly (keyof ViewState)[];

export interface PictureListener {
  /** Right after a change: what will be visible; the outline need not wait for the layout. */
  arranged(tree: VisibleTree): void;
  /** @param isNew whether the mode has changed since the last scene */
  composed(scene: Scene, isNew: boolean): void;
  /** Begins and ends of layouts. */
  busy(isBusy: boolean): void;
  failed(error: unknown): void;
}

export class Picture {
  readonly #store: Store;
  readonly #measure: TextMeasure;
  readonly #runner: LayoutRunner;
  readonly #listener: PictureListener;
  readonly #unsubscribe: () => void;
  #generation = 0;
  #shownMode = "";
  #lastShown: ViewState | undefined;

  constructor(store: Store, measure: TextMeasure, runner: LayoutRunner, listener: PictureListener) {
    this.#store = store;
    this.#measure = measure;
    this.#runner = runner;
    this.#listener = listener;
    this.#unsubscribe = store.subscribe((state, previous) => {
      if (SHAPING.some((name) => state[name] !== previous[name])) {
        void this.refresh();
      }
    });
  }

  dispose(): void {
    this.#generation++;
    this.#unsubscribe();
    this.#runner.cancelCurrent();
  }

  /** Go back to what was shown before the layout that is under way. */
  cancel(): void {
    const shown = this.#lastShown;
    if (shown && this.#isBusy) {
      this.#generation++;
      this.#runner.cancelCurrent();
      this.#setBusy(false);
      this.#store.undo();
    }
  }

  /** Lay out what the store says is open. */
  async refresh(): Promise<void> {
    const { state } = this.#store;
    if (state.mode === "memory") {
      // What is opened meanwhile shows when a graph is asked for again.
      return;
    }
    const generation = ++this.#generation;
    this.#runner.cancelCurrent();
    this.#setBusy(true);
    try {
      const scene = state.mode === "ladder" ? await this.#ladder() : await this.#side(state.mode);
      if (generation === this.#generation) {
        this.#setBusy(false);
        const kind = `${state.mode} ${state.mode === "forward" ? 0 : state.backwardCall}`;
        const isNew = this.#shownMode !== kind;
        this.#shownMode = kind;
        this.#lastShown = state;
        this.#listener.composed(scene, isNew);
      }
    } catch (error) {
      if (generation === this.#generation) {
        this.#setBusy(false);
        if (!(error instanceof LayoutCancelled)) {
          this.#listener.failed(error);
        }
      }
    }
  }

  async #ladder(): Promise<Scene> {
    const arrangement = arrangeLadder(this.#store, this.#measure);
    this.#listener.arranged(arrangement.tree);
    const result = await this.#layout(arrangement.graph);
    return composeLadder(this.#store, arrangement, result);
  }

  async #side(side: "forward" | "backward"): Promise<Scene> {
    const arrangement = arrange(this.#store, side, this.#measure);
    this.#listener.arranged(arrangement.tree);
    return compose(this.#store, arrangement, await this.#layout(arrangement.graph));
  }

  #layout(graph: NestedGraph): ReturnType<LayoutRunner["layout"]> {
    return this.#runner.layout(graph, LAYOUT);
  }

  #isBusy = false;
  #setBusy(isBusy: boolean): void {
    if (this.#isBusy !== isBusy) {
      this.#isBusy = isBusy;
      this.#listener.busy(isBusy);
    }
  }
}

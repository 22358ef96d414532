/** Keeps the picture in step with the store: arrange, lay out in the background, compose. */
import {
  LayoutCancelled,
  type LayoutRunner,
  type NestedResult,
  type RunnerOptions,
} from "../layout/index.ts";
import type { Store, ViewState } from "../model/store.ts";
import type { Steps, VisibleTree } from "../model/visible.ts";
import { countOf } from "./panel/quantities.ts";
import { type Arrangement, arrangeSteps, composeSteps } from "./scene/arrange.ts";
import { arrangeLadderSteps } from "./scene/ladder_rows.ts";
import { composeLadderSteps } from "./scene/ladder_scene.ts";
import type { TextMeasure } from "./scene/measure.ts";
import type { Scene } from "./scene/scene.ts";
import { SceneIndex } from "./scene/scene_index.ts";
import { inSlices, nextTask } from "./scene/slices.ts";

const LAYOUT: RunnerOptions = { nodeGap: 28, rankGap: 34, groupPaddingPx: 18, groupTitlePx: 26 };

/** Parts of the state that change what is laid out. */
const SHAPING = [
  "mode",
  "backwardCall",
  "open",
  "unfolded",
  "taken",
  "showParameters",
  "showOptimizer",
] as const satisfies readonly (keyof ViewState)[];

/** Items that are arranged and listed in one task. */
const MOST_AT_ONCE = 2000;

export interface PictureListener {
  /** What will be visible: the outline need not wait for the layout. */
  arranged(tree: VisibleTree): void;
  /** @param isNew whether the mode has changed since the last scene */
  composed(scene: Scene, isNew: boolean): void;
  /** Begins and ends of layouts. */
  busy(isBusy: boolean): void;
  /** What is done now, for whoever waits: "Laying out 2,000 boxes". */
  progress(stage: string): void;
  failed(error: unknown): void;
}

interface Made {
  readonly tree: VisibleTree;
  readonly scene: Scene;
}

/** The first picture is begun before there is a view to show it: whoever shows it listens later. */
export class Picture {
  readonly #store: Store;
  readonly #measure: TextMeasure;
  readonly #runner: LayoutRunner;
  #listener: PictureListener | undefined;
  readonly #unsubscribe: () => void;
  #generation = 0;
  #shownMode = "";
  #shown: (Made & { readonly state: ViewState }) | undefined;
  /** What is under way has come so far. */
  #stage = "";
  #arranged: VisibleTree | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(store: Store, measure: TextMeasure, runner: LayoutRunner) {
    this.#store = store;
    this.#measure = measure;
    this.#runner = runner;
    this.#unsubscribe = store.subscribe((state, previous) => {
      if (SHAPING.some((name) => state[name] !== previous[name])) {
        void this.refresh();
      }
    });
  }

  /** Tell of all that comes, and at once of what has come so far. */
  listen(listener: PictureListener): void {
    this.#listener = listener;
    if (this.#isBusy) {
      listener.busy(true);
      listener.progress(this.#stage);
    }
    if (this.#arranged) {
      listener.arranged(this.#arranged);
    }
    if (this.#failure) {
      listener.failed(this.#failure.error);
    } else if (this.#shown && !this.#isBusy) {
      listener.composed(this.#shown.scene, true);
    }
  }

  dispose(): void {
    this.#generation++;
    this.#unsubscribe();
    this.#runner.cancelCurrent();
  }

  /**
   * Go back to what was shown before the layout that is under way.
   *
   * @returns whether one was
   */
  cancel(): boolean {
    if (!this.#shown || !this.#isBusy) {
      return false;
    }
    this.#generation++;
    this.#runner.cancelCurrent();
    this.#setBusy(false);
    this.#store.undo();
    return true;
  }

  /** Lay out all anew: texts have other widths. */
  async remeasure(): Promise<void> {
    this.#shown = undefined;
    await this.refresh();
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
    const shown = this.#shown;
    if (shown && SHAPING.every((name) => state[name] === shown.state[name])) {
      // Back to what is on the screen: a layout was cancelled, or undone before it was done.
      this.#setBusy(false);
      this.#tellArranged(shown.tree);
      this.#listener?.composed(shown.scene, false);
      return;
    }
    this.#failure = undefined;
    this.#setBusy(true);
    try {
      const isStale = (): boolean => generation !== this.#generation;
      const made = await (state.mode === "ladder"
        ? this.#ladder(isStale)
        : this.#side(state.mode, isStale));
      if (!isStale()) {
        this.#setBusy(false);
        const kind = `${state.mode} ${state.mode === "forward" ? 0 : state.backwardCall}`;
        const isNew = this.#shownMode !== kind;
        this.#shownMode = kind;
        this.#shown = { ...made, state };
        this.#listener?.composed(made.scene, isNew);
      }
    } catch (error) {
      if (generation === this.#generation) {
        this.#setBusy(false);
        if (!(error instanceof LayoutCancelled)) {
          this.#failure = { error };
          this.#listener?.failed(error);
        }
      }
    }
  }

  async #ladder(isStale: () => boolean): Promise<Made> {
    const steps = arrangeLadderSteps(this.#store, this.#measure);
    const arrangement = await inSlices(steps, isStale);
    const result = await this.#layout(arrangement, isStale);
    return this.#made(arrangement, composeLadderSteps(this.#store, arrangement, result), isStale);
  }

  async #side(side: "forward" | "backward", isStale: () => boolean): Promise<Made> {
    const steps = arrangeSteps(this.#store, side, this.#measure);
    const arrangement = await inSlices(steps, isStale);
    const result = await this.#layout(arrangement, isStale);
    return this.#made(arrangement, composeSteps(this.#store, arrangement, result), isStale);
  }

  /** The scene, ready to be drawn. */
  async #made({ tree }: Arrangement, steps: Steps<Scene>, isStale: () => boolean): Promise<Made> {
    this.#tellStage(`Placing ${boxCount(tree)}`);
    const scene = await inSlices(steps, isStale);
    await inSlices(SceneIndex.steps(scene), isStale);
    return { tree, scene };
  }

  async #layout({ graph, tree }: Arrangement, isStale: () => boolean): Promise<NestedResult> {
    if (isStale()) {
      throw new LayoutCancelled();
    }
    this.#tellStage(`Laying out ${boxCount(tree)}`);
    const result = this.#runner.layout(graph, LAYOUT);
    // While the worker lays out, the outline is written; of much in a task of its own.
    if (tree.items.length > MOST_AT_ONCE) {
      result.catch(() => {});
      await nextTask();
    }
    if (isStale()) {
      throw new LayoutCancelled();
    }
    this.#tellArranged(tree);
    return result;
  }

  #tellArranged(tree: VisibleTree): void {
    this.#arranged = tree;
    this.#listener?.arranged(tree);
  }

  #tellStage(stage: string): void {
    this.#stage = stage;
    this.#listener?.progress(stage);
  }

  #isBusy = false;
  #setBusy(isBusy: boolean): void {
    if (this.#isBusy !== isBusy) {
      this.#isBusy = isBusy;
      this.#listener?.busy(isBusy);
    }
  }
}

function boxCount({ items }: VisibleTree): string {
  return countOf(items.length, "box", "boxes");
}

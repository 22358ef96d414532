/** Keeps the picture in step with the store: arrange, lay out in the background, compose. */
import { LayoutCancelled, type LayoutRunner } from "../../layout/index.ts";
import { pictured } from "../../model/state/pictured.ts";
import { hasSameShape, makesSamePicture } from "../../model/state/shaping.ts";
import type { Store } from "../../model/state/store.ts";
import type { ViewState } from "../../model/state/view_state.ts";
import type { VisibleTree } from "../../model/visible/visible_tree.ts";
import { widestGroups } from "../arrange/widest_groups.ts";
import type { TextMeasure } from "../scene/measure.ts";
import type { Scene } from "../scene/scene.ts";
import { wholeParts } from "../scene/whole_parts.ts";
import { isTooWide, roomFor } from "./first_view.ts";
import { type Made, Making, type MakingListener } from "./making.ts";

/** In a larger picture nothing is made on suspicion. */
const MOST_EXPECTED = 600;

/** A larger picture is shown as it is, however wide. */
const MOST_FITTED = 300;

/** After so many too wide ones all groups are closed at once that may make a picture wide. */
const MOST_TRIES = 4;

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

export class Picture {
  readonly #store: Store;
  readonly #measure: TextMeasure;
  readonly #runner: LayoutRunner;
  #listener: PictureListener | undefined;
  readonly #unsubscribe: () => void;
  /** What is under way. */
  #making: Making | undefined;
  /** What may be asked for next. */
  #expected: Making | undefined;
  #shownMode = "";
  /** The view's width, in CSS px; 0 while it is not known. A first picture opens no more than it has room for. */
  room = 0;
  /** First pictures in a row that were too wide. */
  #tries = 0;
  #shown: (Made & { readonly state: ViewState }) | undefined;

  constructor(store: Store, measure: TextMeasure, runner: LayoutRunner) {
    this.#store = store;
    this.#measure = measure;
    this.#runner = runner;
    this.#unsubscribe = store.subscribe((state, previous) => {
      if (!hasSameShape(state, previous)) {
        void this.refresh();
      }
    });
  }

  /** Tell of all that comes. */
  listen(listener: PictureListener): void {
    this.#listener = listener;
  }

  dispose(): void {
    this.#giveUp();
    this.#unsubscribe();
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
    this.#giveUp();
    this.#setBusy(false);
    this.#store.undo();
    return true;
  }

  /** Lay out what the store says is open. */
  async refresh(): Promise<void> {
    const { state } = this.#store;
    if (state.mode === "memory") {
      // What is opened meanwhile shows when a graph is asked for again.
      return;
    }
    const expected = this.#expected;
    const isExpected = expected !== undefined && makesSamePicture(expected.state, state);
    if (isExpected) {
      this.#expected = undefined;
    } else {
      this.#giveUp();
    }
    const shown = this.#shown;
    if (shown && hasSameShape(state, shown.state)) {
      // Back to what is on the screen: a layout was cancelled, or undone before it was done.
      this.#giveUp();
      this.#setBusy(false);
      this.#listener?.arranged(shown.tree);
      this.#listener?.composed(shown.scene, false);
      return;
    }
    const making = isExpected ? expected : this.#makingOf(state);
    this.#making = making;
    this.#setBusy(true);
    try {
      const made = await making.made(this.#told);
      if (making === this.#making) {
        this.#making = undefined;
        const kind = `${state.mode} ${state.mode === "forward" ? 0 : state.backwardCall}`;
        const isNew = this.#shownMode !== kind;
        const tooWide = isNew ? this.#tooWide(made) : [];
        if (tooWide.length) {
          this.#tries++;
          this.#store.shutAtFirst(tooWide);
          return;
        }
        this.#tries = 0;
        this.#setBusy(false);
        this.#shownMode = kind;
        this.#shown = { ...made, state };
        this.#listener?.composed(made.scene, isNew);
      }
    } catch (error) {
      if (making === this.#making) {
        this.#making = undefined;
        this.#setBusy(false);
        if (!(error instanceof LayoutCancelled)) {
          this.#listener?.failed(error);
        }
      }
    }
  }

  /**
   * Make what may be asked for next: the picture after a change of the store. It is kept until something else is.
   *
   * @param itemCount how many more items that would show
   */
  expect(change: Partial<ViewState>, itemCount: number): void {
    const shown = this.#shown;
    const state = { ...this.#store.state, ...change };
    if (
      !shown ||
      this.#isBusy ||
      shown.tree.items.length + itemCount > MOST_EXPECTED ||
      (this.#expected && makesSamePicture(this.#expected.state, state))
    ) {
      return;
    }
    this.#giveUp();
    this.#expected = this.#makingOf(state);
    // Whoever asks for it then is told what went wrong.
    this.#expected.made().catch(() => {});
  }

  /** Groups without which a first picture would have room; none where nobody waits for less. */
  #tooWide({ tree, scene }: Made): number[] {
    const isSmall = tree.items.length <= MOST_FITTED;
    if (!this.room || !isSmall || !this.#store.isAsAtFirst) {
      return [];
    }
    const parts = wholeParts(scene, this.#measure, Number.POSITIVE_INFINITY);
    if (!isTooWide(scene, this.room, parts)) {
      return [];
    }
    const structure = this.#store.trace.table("groups").column("structure");
    const most = this.#tries < MOST_TRIES ? 1 : Number.POSITIVE_INFINITY;
    return widestGroups({ scene, tree, parts, structure }, roomFor(this.room), most);
  }

  #makingOf(state: ViewState): Making {
    return new Making(pictured(this.#store, state), this.#measure, this.#runner);
  }

  /** Give up what is under way, and what was expected. */
  #giveUp(): void {
    this.#making?.giveUp();
    this.#making = undefined;
    this.#expected?.giveUp();
    this.#expected = undefined;
    this.#runner.cancelCurrent();
  }

  readonly #told: MakingListener = {
    arranged: (tree) => this.#listener?.arranged(tree),
    progress: (stage) => this.#listener?.progress(stage),
  };

  #isBusy = false;
  #setBusy(isBusy: boolean): void {
    if (this.#isBusy !== isBusy) {
      this.#isBusy = isBusy;
      this.#listener?.busy(isBusy);
    }
  }
}

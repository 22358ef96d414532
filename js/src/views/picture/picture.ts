/** Keeps the picture in step with the store: arrange, lay out in the background, compose. */
import { LayoutCancelled, type LayoutRunner } from "../../layout/index.ts";
import { pictured } from "../../model/state/pictured.ts";
import { hasSameShape } from "../../model/state/shaping.ts";
import type { Store } from "../../model/state/store.ts";
import type { ViewState } from "../../model/state/view_state.ts";
import { widestGroups } from "../arrange/widest_groups.ts";
import type { TextMeasure } from "../scene/measure.ts";
import type { Scene } from "../scene/scene.ts";
import { wholeParts } from "../scene/taken.ts";
import { isTooWide, roomFor } from "./first_view.ts";
import { type Made, type MakingListener, makePicture } from "./making.ts";

/** A larger picture is shown as it is, however wide. */
const MOST_FITTED = 300;

/** After so many too wide ones all groups are closed at once that may make a picture wide. */
const MOST_TRIES = 4;

/** `arranged` tells what will be visible: the outline need not wait for the layout. */
export interface PictureListener extends MakingListener {
  /** @param isNew whether the mode has changed since the last scene */
  composed(scene: Scene, isNew: boolean): void;
  /** Begins and ends of layouts. */
  busy(isBusy: boolean): void;
  failed(error: unknown): void;
}

export class Picture {
  #listener: PictureListener | undefined;
  readonly #unsubscribe: () => void;
  /** What is under way: whoever finds another here has been given up. */
  #making: object | undefined;
  #isBusy = false;
  #shownMode = "";
  /** The view's width, in CSS px; 0 while it is not known. A first picture opens no more than it has room for. */
  room = 0;
  /** First pictures in a row that were too wide. */
  #tries = 0;
  #shown: (Made & { readonly state: ViewState }) | undefined;

  constructor(
    readonly store: Store,
    readonly measure: TextMeasure,
    readonly runner: LayoutRunner,
  ) {
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
    this.store.undo();
    return true;
  }

  /** Lay out what the store says is open. */
  async refresh(): Promise<void> {
    const { state } = this.store;
    if (state.mode === "memory") {
      // What is opened meanwhile shows when a graph is asked for again.
      return;
    }
    this.#giveUp();
    const shown = this.#shown;
    if (shown && hasSameShape(state, shown.state)) {
      // Back to what is on the screen: a layout was cancelled, or undone before it was done.
      this.#setBusy(false);
      this.#listener?.arranged(shown.tree);
      this.#listener?.composed(shown.scene, false);
      return;
    }
    const making = {};
    this.#making = making;
    this.#setBusy(true);
    try {
      const made = await makePicture(
        pictured(this.store, state),
        this.measure,
        this.runner,
        this.#listener,
        () => making !== this.#making,
      );
      if (making === this.#making) {
        this.#making = undefined;
        const kind = `${state.mode} ${state.mode === "forward" ? 0 : state.backwardCall}`;
        const isNew = this.#shownMode !== kind;
        const tooWide = isNew ? this.#tooWide(made) : [];
        if (tooWide.length) {
          this.#tries++;
          this.store.shutAtFirst(tooWide);
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

  /** Groups without which a first picture would have room; none where nobody waits for less. */
  #tooWide({ tree, scene }: Made): number[] {
    const isSmall = tree.items.length <= MOST_FITTED;
    if (!this.room || !isSmall || !this.store.isAsAtFirst) {
      return [];
    }
    const parts = wholeParts(scene, this.measure, Number.POSITIVE_INFINITY);
    if (!isTooWide(scene, this.room, parts)) {
      return [];
    }
    const structure = this.store.trace.table("groups").column("structure");
    const most = this.#tries < MOST_TRIES ? 1 : Number.POSITIVE_INFINITY;
    return widestGroups({ scene, tree, parts, structure }, roomFor(this.room), most);
  }

  /** Give up what is under way. */
  #giveUp(): void {
    this.#making = undefined;
    this.runner.cancelCurrent();
  }

  #setBusy(isBusy: boolean): void {
    if (this.#isBusy !== isBusy) {
      this.#isBusy = isBusy;
      this.#listener?.busy(isBusy);
    }
  }
}

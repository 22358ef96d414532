/** Parts beside the picture that describe it: they are updated after the picture shows what they describe. */
import { afterPaint } from "../dom/after_paint.ts";
import { nextTask } from "../dom/slices.ts";

/** A picture that takes longer is not waited for: people read beside it meanwhile. */
const PATIENCE_MS = 150;

export class Following {
  readonly #due = new Set<() => void>();
  #isBusy = false;
  /** Pictures that have been made. */
  #made = 0;
  #isUnderWay = false;

  /** Do something after the next picture; what is asked for several times until then is done once. */
  after(act: () => void): void {
    this.#due.add(act);
    if (!this.#isUnderWay) {
      this.#isUnderWay = true;
      void this.#follow().finally(() => {
        this.#isUnderWay = false;
      });
    }
  }

  /** @param isBusy whether a picture is being made */
  busy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    this.#made += isBusy ? 0 : 1;
  }

  dispose(): void {
    this.#due.clear();
  }

  async #follow(): Promise<void> {
    while (this.#due.size > 0) {
      await this.#shown();
      for (const act of this.#due) {
        this.#due.delete(act);
        try {
          act();
        } catch (error) {
          reportError(error);
        }
        await nextTask();
        if (this.#isBusy) {
          break;
        }
      }
    }
  }

  /** Resolves after a frame; while a picture is being made, after the one that shows it. */
  async #shown(): Promise<void> {
    const end_ms = performance.now() + PATIENCE_MS;
    let made: number;
    // A click that selects is often the first of two: what the second asks for comes before what the first one tells.
    do {
      made = this.#made;
      await afterPaint();
    } while ((this.#isBusy || made !== this.#made) && performance.now() < end_ms);
  }
}

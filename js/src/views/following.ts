/** Updates the parts that describe the picture, after the new picture is on screen. */
import { afterPaint, nextTask } from "../dom/after_paint.ts";

export class Following {
  readonly #due = new Set<() => void>();
  /** How many pictures have been made. */
  #made = 0;
  #isUnderWay = false;

  /** Run a function after the next frame. Several requests for the same function run it once. */
  after(act: () => void): void {
    this.#due.add(act);
    if (!this.#isUnderWay) {
      this.#isUnderWay = true;
      void this.#follow().finally(() => {
        this.#isUnderWay = false;
      });
    }
  }

  /** Report a new picture. Its frame is painted before the waiting functions run. */
  hasPicture(): void {
    this.#made++;
  }

  dispose(): void {
    this.#due.clear();
  }

  async #follow(): Promise<void> {
    while (this.#due.size > 0) {
      let made: number;
      // A click may be the first of two. Wait for the picture that a double click opens.
      do {
        made = this.#made;
        await afterPaint();
      } while (made !== this.#made);
      for (const act of this.#due) {
        this.#due.delete(act);
        try {
          act();
        } catch (error) {
          reportError(error);
        }
        await nextTask();
      }
    }
  }
}

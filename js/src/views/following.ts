/** Parts beside the picture that describe it: they are updated after the picture shows what they describe. */
import { afterPaint } from "../dom/after_paint.ts";
import { nextTask } from "../dom/next_task.ts";

export class Following {
  readonly #due = new Set<() => void>();
  /** Pictures that have been made. */
  #made = 0;
  #isUnderWay = false;

  /** Do something after the next frame. What is asked for several times until then is done once. */
  after(act: () => void): void {
    this.#due.add(act);
    if (!this.#isUnderWay) {
      this.#isUnderWay = true;
      void this.#follow().finally(() => {
        this.#isUnderWay = false;
      });
    }
  }

  /** A picture has been made: its frame comes first. */
  hasPicture(): void {
    this.#made++;
  }

  dispose(): void {
    this.#due.clear();
  }

  async #follow(): Promise<void> {
    while (this.#due.size > 0) {
      let made: number;
      // A click that selects is often the first of two: the picture that the second one opens comes before the panel.
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

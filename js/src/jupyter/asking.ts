/** Requests something from the kernel: a page of the graph, or a value. */

import type { AnyModel } from "@anywidget/types";
import { t } from "../words/page.ts";

/**
 * The answers of the kernel: first that it has begun (`<kind>_begun`), perhaps its progress
 * (`<kind>_progress`), then a result or an error.
 */
interface Answer {
  readonly kind: string;
  readonly id: string;
  readonly done?: number;
  readonly of?: number;
  readonly error?: string;
}

export interface Watch {
  readonly signal: AbortSignal;
  progress(done: number, of: number): void;
}

/** An idle kernel answers within this time that it has begun. */
const PATIENCE_MS = 5000;

/**
 * @param kind what is requested
 * @param content the data of the request
 * @param silence returns the message of the error if no kernel answers
 * @param watch receives the progress of the kernel, and can cancel
 * @throws Error with a readable message if no kernel answers, or if it answers with an error
 */
export function ask<A extends object>(
  model: AnyModel,
  kind: string,
  content: object,
  silence: () => string,
  watch?: Watch,
): Promise<{ answer: A; buffers: DataView<ArrayBuffer>[] }> {
  const id = Math.random().toString(36).slice(2);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(new Error(silence()))), PATIENCE_MS);
    function end(settle: () => void): void {
      clearTimeout(timer);
      model.off("msg:custom", answered);
      watch?.signal.removeEventListener("abort", cancel);
      settle();
    }
    function cancel(): void {
      model.send({ kind: `cancel_${kind}`, id });
      end(() => reject(new Error(t("value.cancelled"))));
    }
    function answered(answer: Answer, buffers: DataView<ArrayBuffer>[]): void {
      if (answer?.id !== id) return;
      clearTimeout(timer);
      if (answer.of) watch?.progress(answer.done ?? 0, answer.of);
      if (answer.kind !== kind) return;
      end(() =>
        answer.error
          ? reject(new Error(answer.error))
          : resolve({ answer: answer as unknown as A, buffers }),
      );
    }
    model.on("msg:custom", answered);
    watch?.signal.addEventListener("abort", cancel);
    try {
      model.send({ ...content, kind, id });
    } catch {
      end(() => reject(new Error(silence())));
    }
  });
}

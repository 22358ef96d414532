/** Asks the kernel for the graph as an HTML page: only the kernel has the whole trace and the scripts. */

import type { AnyModel } from "@anywidget/types";
import { t } from "../words/page.ts";

/** The kernel's answers: first that it has begun, then the page or an error. */
interface Answer {
  readonly kind: "page_begun" | "page";
  readonly id: string;
  readonly error?: string;
}

/** A running, idle kernel answers within this time that it has begun. */
const PATIENCE_MS = 5000;

/** @throws Error with a readable message if no kernel answers, or it could not make the page */
export function askForPage(model: AnyModel, patience_ms = PATIENCE_MS): Promise<Blob> {
  const id = Math.random().toString(36).slice(2);
  return new Promise<Blob>((resolve, reject) => {
    const timer = setTimeout(
      () => end(() => reject(new Error(t("export.no_kernel")))),
      patience_ms,
    );
    function end(settle: () => void): void {
      clearTimeout(timer);
      model.off("msg:custom", answered);
      settle();
    }
    function answered(answer: Answer, buffers: DataView<ArrayBuffer>[]): void {
      if (answer?.id !== id) return;
      clearTimeout(timer);
      if (answer.kind !== "page") return;
      end(() =>
        answer.error
          ? reject(new Error(answer.error))
          : resolve(new Blob(buffers, { type: "text/html" })),
      );
    }
    model.on("msg:custom", answered);
    try {
      model.send({ kind: "page", id });
    } catch {
      end(() => reject(new Error(t("export.no_kernel"))));
    }
  });
}

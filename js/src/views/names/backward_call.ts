/** The name of a backward call, and the line that made it. */
import { callsAround } from "../../model/gradients/backward_calls.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";

/** "2 · paddle.grad · line 7 · inside call 1 · failed". */
export function backwardCallName(trace: Trace, call: number): string {
  const kind = trace.backwardKind(call);
  const around = callsAround(trace)[call]!;
  const parts = [
    kind === "remaining" ? t("calls.remaining") : kind,
    lineOfBackwardCall(trace, call),
    around >= 0 ? t("calls.inside", { n: around + 1 }) : "",
    trace.textAt("backward_calls", "error", call) ? t("calls.failed") : "",
  ];
  return `${call + 1} · ${parts.filter(Boolean).join(" · ")}`;
}

/** "line 7" if the user's own code made the call, else "". */
export function lineOfBackwardCall(trace: Trace, call: number): string {
  const frame = trace
    .framesOfStack(trace.at("backward_calls", "stack", call))
    .find((at) => trace.frameKind(at) === "user");
  return frame === undefined ? "" : t("place.line", { line: trace.at("frames", "line", frame) });
}

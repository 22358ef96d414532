/** How the chart is doing, in words. */
import { t } from "../words/live.ts";

export interface ChartState {
  readonly kind: "live" | "silent" | "stopped";
  readonly text: string;
}

export function readState({
  is_running,
  stopped_because,
  silent_ms,
}: {
  is_running: boolean;
  stopped_because: string;
  silent_ms: number;
}): ChartState {
  if (!is_running) {
    return {
      kind: "stopped",
      text: stopped_because ? t("stopped_because", { why: stopped_because }) : t("stopped"),
    };
  }
  if (silent_ms > 0) {
    const seconds = Math.round(silent_ms / 1000);
    return {
      kind: "silent",
      text: t("silent", { n: seconds }),
    };
  }
  return { kind: "live", text: t("live") };
}

/** How the chart is doing, in words. */

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
    return { kind: "stopped", text: stopped_because ? `Stopped: ${stopped_because}` : "Stopped" };
  }
  if (silent_ms > 0) {
    const seconds = Math.round(silent_ms / 1000);
    return {
      kind: "silent",
      text: `Nothing for ${seconds} s: the interpreter is held, or the kernel has ended`,
    };
  }
  return { kind: "live", text: "Live" };
}

/** Wall-clock times of the chart. */
import { multiples } from "../../charts/ticks.ts";
import type { Window } from "./time_window.ts";

const [SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS] = [1000, 60_000, 3_600_000, 86_400_000];
const STEPS_MS = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 4, 6, 12, 24].map((hours) => hours * HOUR_MS),
];

/** Converts the sampler's ms to ms that show local time when they are read as UTC. */
export function localOffset(epoch_ms: number): number {
  return epoch_ms - new Date(epoch_ms).getTimezoneOffset() * MINUTE_MS;
}

/**
 * Round times in a window, with labels such as "14:03:12".
 *
 * @param offset_ms the result of `localOffset`
 */
export function clockTicks(
  { start_ms, end_ms }: Window,
  offset_ms: number,
  most: number,
): [time_ms: number, label: string][] {
  const step_ms = STEPS_MS.find((step) => (end_ms - start_ms) / step <= most) ?? DAY_MS;
  return multiples(step_ms, start_ms + offset_ms, end_ms + offset_ms).map((local_ms) => {
    // "2026-11-26T14:03:12.500Z"
    const text = new Date(local_ms).toISOString();
    const label =
      step_ms < SECOND_MS
        ? text.slice(11, 21)
        : step_ms < MINUTE_MS
          ? text.slice(11, 19)
          : step_ms < DAY_MS
            ? text.slice(11, 16)
            : text.slice(5, 10);
    return [local_ms - offset_ms, label];
  });
}

/** Local time: `14:03:12.5`. */
export function clockTime(epoch_ms: number): string {
  return new Date(localOffset(epoch_ms)).toISOString().slice(11, 21);
}

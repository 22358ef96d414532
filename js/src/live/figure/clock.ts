/** Wall-clock times for the chart. */

/**
 * The offset from the sampler's ms to the ms that Bokeh, which has no time zones, shows as local
 * time.
 */
export function localOffset(epoch_ms: number): number {
  return epoch_ms - new Date(epoch_ms).getTimezoneOffset() * 60_000;
}

/** The local time as text: `14:03:12.5`. */
export function clockTime(epoch_ms: number): string {
  const date = new Date(epoch_ms);
  const two = (value: number): string => String(value).padStart(2, "0");
  const tenths = Math.floor(date.getMilliseconds() / 100);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${tenths}`;
}

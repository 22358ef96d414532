/** Formats numbers for users. */

const BYTE_UNITS = ["KiB", "MiB", "GiB", "TiB"] as const;
const AMOUNT_PREFIXES = ["k", "M", "G", "T", "P"] as const;
const NARROW_SPACE = "\u202f";

/** `96 B`, `1.5 KiB`, `4.21 MiB`, `412 MiB`: with as many digits as in Python's texts. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes;
  let unit = -1;
  // 1023.95 KiB would be rounded to "1024 KiB".
  while (value >= 1023.95 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = value < 100 ? Number(value.toPrecision(3)) : Math.round(value);
  return `${digits} ${BYTE_UNITS[unit]}`;
}

/** `11 µs`, `1.2 ms`, `3.4 s`, `640 ns`. */
export function formatDuration(duration_ns: number): string {
  if (duration_ns < 1000) return `${duration_ns} ns`;
  if (duration_ns < 999_500) return `${significant(duration_ns / 1e3)} µs`;
  if (duration_ns < 999_500_000) return `${significant(duration_ns / 1e6)} ms`;
  return `${significant(duration_ns / 1e9)} s`;
}

/** `141 GFLOP/s`, `14 GB/s`: with prefixes of 1000, as is usual for rates. */
export function formatRate(perSecond: number, unit: string): string {
  const prefixes = ["", "k", "M", "G", "T", "P"];
  const step = Math.min(Math.floor(Math.log10(Math.max(perSecond, 1)) / 3), prefixes.length - 1);
  return `${significant(perSecond / 1000 ** step)} ${prefixes[step]}${unit}`;
}

/** `12 %`, `0.4 %`, `< 0.1 %`; "" if the part or the whole is 0. */
export function formatShare(part: number, whole: number): string {
  if (whole <= 0 || part <= 0) return "";
  const percent = (100 * part) / whole;
  if (percent < 0.1) return "< 0.1 %";
  return `${percent < 10 ? Number(percent.toFixed(1)) : Math.round(percent)} %`;
}

/** `12 345` with thin spaces; `999` without. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, NARROW_SPACE);
}

/** Like `formatCount`, but at most five characters wide: `115k`. */
export function formatShortCount(count: number): string {
  return count < 100_000 ? formatCount(count) : `${formatCount(Math.floor(count / 1000))}k`;
}

/** `999`, `4.09 G`, `25.6 M`, `12.3 k`: with prefixes of powers of 1000. */
export function formatAmount(count: number): string {
  let value = count;
  let prefix = -1;
  while (value >= 999.5 && prefix < AMOUNT_PREFIXES.length - 1) {
    value /= 1000;
    prefix++;
  }
  const digits = value < 100 ? Number(value.toPrecision(3)) : Math.round(value);
  return prefix < 0 ? String(count) : `${digits} ${AMOUNT_PREFIXES[prefix]}`;
}

function significant(value: number): string {
  return String(
    value < 100 ? Number(value.toPrecision(2 + Number(value >= 10))) : Math.round(value),
  );
}

/** A value of a tensor: `0`, `0.25`, `−3.14`, `3.2e−8`, `1.5e+9`. */
export function formatValue(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value).replace("-", "−");
  const size = Math.abs(value);
  const text =
    size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
  return text.replaceAll("-", "−");
}

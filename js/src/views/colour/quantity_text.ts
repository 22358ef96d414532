/** Values of the quantities that boxes are coloured by, as text. */
import type { Colouring } from "../../model/state/view_state.ts";
import { formatBytes, formatDuration, formatValue } from "../../words/quantities.ts";

const PREFIXES = ["", " k", " M", " G", " T", " P"];

export function quantityText(name: Colouring, value: number): string {
  switch (name) {
    case "time":
      return formatDuration(Math.round(value));
    case "output_bytes":
    case "saved_bytes":
      return formatBytes(value);
    case "flops":
    case "parameters":
      return scaled(value);
    case "nan_share":
      return `${Number((100 * value).toPrecision(3))} % NaN`;
    case "gradient_norm":
      return `‖${formatValue(value)}‖`;
    case "dtype":
      return "";
  }
}

/** "1.23 G", "640": three digits and the prefix of a power of 1,000. */
function scaled(value: number): string {
  let [rest, at] = [value, 0];
  while (rest >= 999.5 && at < PREFIXES.length - 1) {
    rest /= 1000;
    at++;
  }
  return `${Number(rest.toPrecision(3))}${PREFIXES[at]}`;
}

/** Values of the quantities that boxes are coloured by, as text. */
import type { Colouring } from "../../model/state/view_state.ts";
import { formatAmount, formatBytes, formatDuration, formatValue } from "../../words/quantities.ts";

export function quantityText(name: Colouring, value: number): string {
  switch (name) {
    case "time":
      return formatDuration(Math.round(value));
    case "output_bytes":
    case "saved_bytes":
      return formatBytes(value);
    case "flops":
    case "parameters":
      return formatAmount(value);
    case "nan_share":
      return `${Number((100 * value).toPrecision(3))} % NaN`;
    case "gradient_norm":
      return `‖${formatValue(value)}‖`;
    case "difference":
    case "dtype":
      return "";
  }
}

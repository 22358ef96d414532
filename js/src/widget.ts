// Placeholder, to be replaced by the front end.
import "./widget.css";

export default {
  initialize(): void {},
  render({ el }: { el: HTMLElement }): void {
    el.textContent = "Paddle Lab";
  },
};

// Placeholder, to be replaced by the front end.
import "./widget.css";
import widget from "./widget.ts";

const root = document.querySelector<HTMLElement>("#paddle-lab");
if (root !== null) widget.render({ el: root });

/**
 * The part of a canvas context that the painters use. It writes SVG, so that an exported file
 * shows what the canvas shows.
 */
type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Any machine that opens the file has at least one of these fonts. */
const FONT_FAMILY = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
/** From the middle of a text line down to its baseline, in font sizes. */
const MIDDLE_TO_BASE = 0.35;

export class SvgContext {
  fillStyle = "#000000";
  strokeStyle = "#000000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "400 10px sans-serif";
  textAlign: CanvasTextAlign = "start";
  textBaseline: CanvasTextBaseline = "alphabetic";
  lineCap: CanvasLineCap = "butt";
  lineJoin: CanvasLineJoin = "miter";
  readonly #elements: string[] = [];
  readonly #saved: { x: number; y: number; scale: number }[] = [];
  #at = { x: 0, y: 0, scale: 1 };
  #path = "";
  #dash: number[] = [];

  save(): void {
    this.#saved.push({ ...this.#at });
  }

  restore(): void {
    this.#at = this.#saved.pop() ?? this.#at;
  }

  translate(x: number, y: number): void {
    const { scale } = this.#at;
    this.#at = { scale, x: this.#at.x + x * scale, y: this.#at.y + y * scale };
  }

  scale(x: number, _y: number): void {
    this.#at = { ...this.#at, scale: this.#at.scale * x };
  }

  setLineDash(dash: number[]): void {
    this.#dash = dash;
  }

  beginPath(): void {
    this.#path = "";
  }

  moveTo(x: number, y: number): void {
    this.#draw("M", x, y);
  }

  lineTo(x: number, y: number): void {
    this.#draw("L", x, y);
  }

  bezierCurveTo(...points: number[]): void {
    this.#draw("C", ...points);
  }

  quadraticCurveTo(...points: number[]): void {
    this.#draw("Q", ...points);
  }

  closePath(): void {
    this.#path += "Z";
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.roundRect(x, y, width, height, 0);
  }

  roundRect(x: number, y: number, width: number, height: number, radius: number): void {
    const r = this.#length(Math.max(0, Math.min(radius, width / 2, height / 2)));
    const [w, h] = [round(this.#length(width) - 2 * r), round(this.#length(height) - 2 * r)];
    const corner = (dx: number, dy: number) => (r ? `a${r} ${r} 0 0 1 ${dx} ${dy}` : "");
    this.#draw("M", x + r / this.#at.scale, y);
    this.#path +=
      `h${w}${corner(r, r)}v${h}${corner(-r, r)}` +
      `h${-w}${corner(-r, -r)}v${-h}${corner(r, -r)}Z`;
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.beginPath();
    this.rect(x, y, width, height);
    this.fill();
  }

  fill(): void {
    if (this.#path) this.#write("path", { d: this.#path, ...this.#paint("fill", this.fillStyle) });
  }

  stroke(): void {
    if (!this.#path) return;
    this.#write("path", {
      d: this.#path,
      fill: "none",
      ...this.#paint("stroke", this.strokeStyle),
      "stroke-width": this.#length(this.lineWidth),
      "stroke-dasharray": this.#dash.map((dash) => this.#length(dash)).join(" ") || undefined,
      "stroke-linecap": this.lineCap === "butt" ? undefined : this.lineCap,
      "stroke-linejoin": this.lineJoin === "miter" ? undefined : this.lineJoin,
    });
  }

  fillText(text: string, x: number, y: number): void {
    if (!text.trim()) return;
    const [, weight, size] = /^(\d+) ([\d.]+)px/.exec(this.font) ?? ["", "400", "12"];
    const down = this.textBaseline === "middle" ? Number(size) * MIDDLE_TO_BASE : 0;
    const anchor = { center: "middle", end: "end", right: "end" }[this.textAlign as string];
    this.#write(
      "text",
      {
        x: this.#x(x),
        y: this.#y(y + down),
        "font-size": this.#length(Number(size)),
        "font-weight": weight === "400" ? undefined : weight,
        "text-anchor": anchor,
        ...this.#paint("fill", this.fillStyle),
      },
      text,
    );
  }

  /** The SVG document. */
  document(width_px: number, height_px: number, title: string): string {
    const root =
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width_px}" height="${height_px}" ` +
      `viewBox="0 0 ${width_px} ${height_px}" font-family="${FONT_FAMILY}">`;
    return `${root}\n<title>${escapeXml(title)}</title>\n${this.#elements.join("\n")}\n</svg>\n`;
  }

  #write(tag: string, attributes: Attributes, text = ""): void {
    const written = Object.entries(attributes)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ` ${name}="${escapeXml(String(value))}"`)
      .join("");
    this.#elements.push(
      text ? `<${tag}${written}>${escapeXml(text)}</${tag}>` : `<${tag}${written}/>`,
    );
  }

  /** SVG 1.1 does not have `#rrggbbaa`. */
  #paint(property: "fill" | "stroke", colour: string): Attributes {
    const own = colour.length === 9 ? Number.parseInt(colour.slice(7), 16) / 255 : 1;
    const alpha = Math.round(own * this.globalAlpha * 100) / 100;
    return {
      [property]: colour.slice(0, 7),
      [`${property}-opacity`]: alpha < 1 ? alpha : undefined,
    };
  }

  /** @param points x and y alternately */
  #draw(command: string, ...points: number[]): void {
    this.#path +=
      command + points.map((at, index) => (index % 2 ? this.#y(at) : this.#x(at))).join(" ");
  }

  #x(x: number): number {
    return round(this.#at.x + x * this.#at.scale);
  }

  #y(y: number): number {
    return round(this.#at.y + y * this.#at.scale);
  }

  #length(length: number): number {
    return round(length * this.#at.scale);
  }
}

/** Text for XML: markup escaped, characters that XML forbids replaced. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Text that is HTML already. */
export class Html {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

type Part = Html | string | number | undefined | Part[];

/** A template of HTML: whatever is put into it is text, and is escaped, unless it is HTML already. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.map((string, index) => string + written(parts[index])).join(""));
}

function written(part: Part): string {
  if (part === undefined) return "";
  if (Array.isArray(part)) return part.map(written).join("");
  return part instanceof Html ? part.text : String(part).replace(/[&<>"']/g, (one) => ESCAPES[one] ?? one);
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

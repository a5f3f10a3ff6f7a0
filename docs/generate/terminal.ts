const LINE = 18;
const CHARACTER = 7.83;
const MARGIN = 20;

/** Pulumi's colours, by the beginning of a line. */
const COLOURS: readonly [RegExp, string][] = [
  [/^\$ /, "#7ee787"],
  [/^── /, "#79c0ff"],
  [/^The requests of each step/, "#79c0ff"],
  [/^\s*~ /, "#e3b341"],
  [/^\s*\+ /, "#7ee787"],
  [/^\s*- /, "#ff7b72"],
  [/^HTTP /, "#79c0ff"],
  [/^200 /, "#7ee787"],
  [/^\(/, "#8b949e"],
  [/: not (?:matched|reached)$/, "#8b949e"],
  [/: matched$/, "#7ee787"],
];

/** The output of a command in a terminal as an SVG that loads no other file. */
export function terminal(command: string, output: string): string {
  const lines = [`$ ${command}`, ...output.split("\n")];
  const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * CHARACTER + 2 * MARGIN);
  const height = lines.length * LINE + 2 * MARGIN;
  const texts = lines.map((line, index) => {
    const [, colour = "#e6edf3"] = COLOURS.find(([begins]) => begins.test(line)) ?? [];
    const y = MARGIN + (index + 0.75) * LINE;
    // Browsers do not hand this attribute down from a group.
    return (
      line && `<text xml:space="preserve" x="${MARGIN}" y="${y}" fill="${colour}">${escaped(line)}</text>\n`
    );
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The output of ${escaped(command)}">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13">
${texts.join("")}</g>
</svg>
`;
}

const escaped = (text: string) =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

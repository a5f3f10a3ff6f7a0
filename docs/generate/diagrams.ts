/* The diagrams of the documentation, as SVGs that load no other file. */

const FONT = "ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif";
const INK = "#e6edf3";
const SOFT = "#8b949e";
const BLUE = "#79c0ff";
const GREEN = "#7ee787";
const RED = "#ff7b72";
const WIDTH = 860;

const text = (x: number, y: number, content: string, { fill = INK, anchor = "middle", size = 14 } = {}) =>
  `<text x="${x}" y="${y}" fill="${fill}" text-anchor="${anchor}" font-size="${size}">${content}</text>`;

const box = (x: number, y: number, width: number, height: number, colour: string) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="none" stroke="${colour}"/>`;

/** A line with a head at its end; dashed lines compare, and have none. */
const arrow = (from: number, to: number, y: number, colour: string, { isDashed = false } = {}) =>
  isDashed
    ? `<path d="M${from} ${y}H${to}" stroke="${colour}" stroke-dasharray="5 4"/>`
    : `<path d="M${from} ${y}H${to}m${to > from ? -7 : 7} -4l${to > from ? 7 : -7} 4l${to > from ? -7 : 7} 4" stroke="${colour}" fill="none"/>`;

const picture = (label: string, height: number, parts: string[]) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${label}">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="${FONT}">
${parts.join("\n")}
</g>
</svg>
`;

/** What each command copies between the program, the state and the service. */
export function copiesDiagram(): string {
  const [program, state, service] = [330, 540, 750];
  const columns: [number, string, string][] = [
    [program, "program", "what should be"],
    [state, "state", "what Pulumi last saw"],
    [service, "service", "what is"],
  ];
  const heads = columns.flatMap(([x, name, what]) => [
    box(x - 80, 16, 160, 44, BLUE),
    text(x, 35, name),
    text(x, 52, what, { fill: SOFT, size: 11 }),
    `<path d="M${x} 60V380" stroke="#30363d"/>`,
  ]);
  const command = (y: number, name: string, note: string) => [
    text(20, y, name, { anchor: "start", fill: GREEN }),
    text(20, y + 18, note, { anchor: "start", fill: SOFT, size: 11 }),
  ];
  const on = (x: number, y: number, what: string) => text(x, y - 7, what, { fill: SOFT, size: 11 });
  return picture("What up, refresh, up --refresh and drift copy between program, state and service", 396, [
    ...heads,
    ...command(100, "pulumi up", "overlooks edits by hand"),
    arrow(program, state, 104, SOFT, { isDashed: true }),
    on((program + state) / 2, 104, "compares"),
    arrow(state, service, 104, GREEN),
    on((state + service) / 2, 104, "writes what differs"),
    ...command(175, "pulumi refresh", "the program's values are not put back"),
    arrow(service, state, 179, RED),
    on((state + service) / 2, 179, "copies edits by hand"),
    ...command(250, "pulumi up --refresh", "puts back what changed by hand"),
    arrow(service, state, 244, RED),
    on((state + service) / 2, 244, "1. copies edits"),
    arrow(program, state, 276, SOFT, { isDashed: true }),
    on((program + state) / 2, 276, "2. compares"),
    arrow(state, service, 276, GREEN),
    on((state + service) / 2, 276, "3. writes them back"),
    ...command(340, "npx pulumi-endpoints drift", "reports, and copies nothing"),
    arrow(state, service, 344, SOFT, { isDashed: true }),
    on((state + service) / 2, 344, "compares"),
  ]);
}

/** Why a create whose answer is lost ends differently in a pool. */
export function poolDiagram(): string {
  const steps = (y: number, name: string, [found, so, colour]: [string[], string, string]) => {
    const boxes: [x: number, width: number, lines: string[], colour: string][] = [
      [175, 100, ["create"], INK],
      [325, 120, ["the answer", "is lost"], RED],
      [500, 160, found, INK],
      [725, 220, [so], colour],
    ];
    return [
      text(20, y + 5, name, { anchor: "start", fill: BLUE }),
      ...boxes.flatMap(([x, width, lines, fill], index) => {
        const [left, first] = [x - width / 2, y + 5 - (lines.length - 1) * 8];
        return [
          box(left, y - 28, width, 56, fill),
          ...lines.map((line, row) => text(x, first + row * 16, line, { fill, size: 12 })),
          ...(index === 0 ? [] : [arrow(left - 33, left - 3, y, SOFT)]),
        ];
      }),
    ];
  };
  return picture("A lost create is found on its URL; in a pool, equal members cannot be told apart", 190, [
    ...steps(55, "one endpoint", [
      ["one endpoint has the", "URL, new and equal"],
      "it is this create's: go on",
      GREEN,
    ]),
    ...steps(135, "a pool", [["three equal", "members: which?"], "an error: look with who-has", RED]),
  ]);
}

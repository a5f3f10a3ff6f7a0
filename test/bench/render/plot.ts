import { type Contestant, contestants, type Driver, type Operation, operations, takesPart } from "../cells";
import type { Results } from "../results";
import type { Summary } from "../statistics";
import { driverNames, seconds } from "../text";

/*
 * Wall time by number of endpoints, a panel an operation, both axes logarithmic. Contestants differ in colour, dash and
 * mark; colours are light or dark as the reader's page is.
 */

const PANEL = { width: 300, height: 220, left: 52, right: 14, top: 30, bottom: 36 };
const COLUMNS = 3;
const FOOT = 30;

const COLOURS: Record<Contestant, { light: string; dark: string }> = {
  ours: { light: "#0550ae", dark: "#6cb6ff" },
  plain: { light: "#bc4c00", dark: "#f69d50" },
  noop: { light: "#57606a", dark: "#adbac7" },
  raw: { light: "#1a7f37", dark: "#57ab5a" },
};

const colours = (page: "light" | "dark") =>
  contestants
    .map((each) => `.${each} { stroke: ${COLOURS[each][page]}; fill: ${COLOURS[each][page]}; }`)
    .join(" ");

const STYLE = `
text { font: 12px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; font-size: 13px; }
.grid { stroke: #d0d7de; }
${colours("light")}
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .grid { stroke: #373e47; }
  ${colours("dark")}
}
.line { fill: none; stroke-width: 2; }
`;

const DASH: Record<Contestant, string> = { ours: "", plain: "7 4", noop: "2 3", raw: "9 3 2 3" };

const MARK: Record<Contestant, (x: number, y: number) => string> = {
  ours: (x, y) => `<circle cx="${x}" cy="${y}" r="4"/>`,
  plain: (x, y) => `<rect x="${x - 3.5}" y="${y - 3.5}" width="7" height="7"/>`,
  noop: (x, y) => `<path d="M${x} ${y - 5}l5 9h-10z"/>`,
  raw: (x, y) => `<path d="M${x} ${y - 5}l5 5l-5 5l-5-5z"/>`,
};

type Scale = (value: number) => number;

export function plot(results: Results, driver: Driver): string {
  const among = contestants.filter((contestant) => takesPart(driver, contestant));
  const { sizes } = results;
  const rows = Math.ceil(operations.length / COLUMNS);
  const width = COLUMNS * PANEL.width;
  const height = rows * PANEL.height + FOOT;
  const panels = operations.map((operation, index) => {
    const place = { x: (index % COLUMNS) * PANEL.width, y: Math.floor(index / COLUMNS) * PANEL.height };
    return `<g transform="translate(${place.x} ${place.y})">${panel(results, driver, operation, among, sizes)}</g>`;
  });
  const title = `Wall time by number of endpoints (${driverNames[driver]})`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
<title id="title">${title}</title>
<desc id="description">${describe(results, driver, among)}</desc>
<style>${STYLE}</style>
${panels.join("\n")}
${legend(among, height - 10)}
</svg>
`;
}

function panel(
  results: Results,
  driver: Driver,
  operation: Operation,
  among: readonly Contestant[],
  sizes: readonly number[],
): string {
  const series = among.map((contestant) => ({
    contestant,
    points: sizes.flatMap((size) => {
      const summary =
        shown(contestant, operation) && results.seconds({ driver, size, contestant, operation });
      return summary ? [{ size, summary }] : [];
    }),
  }));
  const all = series.flatMap(({ points }) => points.map(({ summary }) => summary));
  const [low, high] = decades(all);
  const x = logScale(
    Math.min(...sizes) * 0.8,
    Math.max(...sizes) * 1.25,
    PANEL.left,
    PANEL.width - PANEL.right,
  );
  const y = logScale(low, high, PANEL.height - PANEL.bottom, PANEL.top);
  const ticks = Array.from(
    { length: Math.round(Math.log10(high / low)) + 1 },
    (_, index) => low * 10 ** index,
  );
  const grid = ticks.map(
    (tick) =>
      `<line class="grid" x1="${PANEL.left}" x2="${PANEL.width - PANEL.right}" y1="${y(tick)}" y2="${y(tick)}"/>` +
      `<text x="${PANEL.left - 6}" y="${y(tick) + 4}" text-anchor="end">${tickText(tick)}</text>`,
  );
  const below = sizes.map(
    (size) =>
      `<text x="${x(size)}" y="${PANEL.height - PANEL.bottom + 18}" text-anchor="middle">${size}</text>`,
  );
  const title = `<text class="title" x="${PANEL.left}" y="18">${operation}</text>`;
  return [
    title,
    ...grid,
    ...below,
    ...series.map(({ contestant, points }) => curve(contestant, points, x, y)),
  ].join("");
}

/** The median as a line with marks, the spread as a thin line through each. */
function curve(
  contestant: Contestant,
  points: { size: number; summary: Summary }[],
  x: Scale,
  y: Scale,
): string {
  const path = points.map(({ size, summary }) => `${x(size)},${y(summary.median)}`).join(" ");
  const marks = points.map(
    ({ size, summary: { median, least, most } }) =>
      `<line x1="${x(size)}" x2="${x(size)}" y1="${y(least)}" y2="${y(most)}"/>${MARK[contestant](x(size), y(median))}`,
  );
  const line = `<polyline class="line" points="${path}" stroke-dasharray="${DASH[contestant]}"/>`;
  return points.length > 0 ? `<g class="${contestant}">${line}${marks.join("")}</g>` : "";
}

function legend(among: readonly Contestant[], y: number): string {
  return among
    .map((contestant, index) => {
      const x = PANEL.left + index * 110;
      const line = `<line class="line" x1="${x}" x2="${x + 36}" y1="${y - 4}" y2="${y - 4}" stroke-dasharray="${DASH[contestant]}"/>`;
      const sample = `<g class="${contestant}">${line}${MARK[contestant](x + 18, y - 4)}</g>`;
      return `${sample}<text x="${x + 44}" y="${y}">${contestant}</text>`;
    })
    .join("");
}

function describe(results: Results, driver: Driver, among: readonly Contestant[]): string {
  const size = results.sizes.at(-1) ?? 0;
  const sentences = operations.map((operation) => {
    const times = among.flatMap((contestant) => {
      const summary =
        shown(contestant, operation) && results.seconds({ driver, size, contestant, operation });
      return summary ? [`${contestant} ${seconds(summary.median)} s`] : [];
    });
    return `${operation}: ${times.join(", ")}`;
  });
  return `Medians for ${size} endpoints: ${sentences.join("; ")}.`;
}

/** Raw requests have nothing to do in a preview. */
const shown = (contestant: Contestant, operation: Operation) =>
  contestant !== "raw" || operation !== "preview";

/** The powers of ten around all values. */
function decades(all: readonly Summary[]): [number, number] {
  const low = Math.min(...all.map(({ least }) => least));
  const high = Math.max(...all.map(({ most }) => most));
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0.1, 10];
  return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))];
}

const tickText = (tick: number) =>
  tick < 0.99 ? `${Number((tick * 1000).toPrecision(1))} ms` : `${Number(tick.toPrecision(1))} s`;

function logScale(from: number, to: number, start: number, end: number): Scale {
  const share = (value: number) => Math.log(value / from) / Math.log(to / from);
  return (value) => Math.round((start + share(value) * (end - start)) * 10) / 10;
}

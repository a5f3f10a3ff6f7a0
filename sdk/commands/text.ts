export { count } from "../../provider/data/index";

/* Texts for terminals. */

const WIDTH = 80;

/** The text in lines that fit into a terminal. Its own line breaks stay. */
export function wrapText(text: string, indent = 0): string {
  const fit = new RegExp(`(?=.{${WIDTH - indent + 1}})(.{1,${WIDTH - indent}}) +`, "g");
  return text.replace(fit, `$1\n${" ".repeat(indent)}`);
}

/** Names and their descriptions, for a terminal. */
export function columns(rows: readonly (readonly [name: string, text: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 4;
  return rows.map(([name, text]) => `  ${name}`.padEnd(width) + wrapText(text, width)).join("\n");
}

/** A word of a shell, in single quotes if it needs them. */
export function shellWord(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The items by key, in their order. */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** The lines of a table for a terminal: its columns are as wide as their longest cells. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/* Texts for terminals. */

const WIDTH = 80;

/** The text in lines that fit into a terminal. Its own line breaks stay. */
export function wrapped(text: string, indent = 0): string {
  const fit = new RegExp(`(?=.{${WIDTH - indent + 1}})(.{1,${WIDTH - indent}}) +`, "g");
  return text.replace(fit, `$1\n${" ".repeat(indent)}`);
}

/** Names and their descriptions, for a terminal. */
export function columns(rows: readonly (readonly [name: string, text: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 4;
  return rows.map(([name, text]) => `  ${name}`.padEnd(width) + wrapped(text, width)).join("\n");
}

/** `1 endpoint`, `2 endpoints`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

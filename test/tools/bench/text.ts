import type { Cell, Driver } from "./cells";
import type { Summary } from "./results";

export const driverNames: Record<Driver, string> = { kit: "The test kit's engine", cli: "The Pulumi CLI" };

/** With three significant digits. */
export function secondsText({ median, least, most }: Summary): string {
  return `${seconds(median)} (${seconds(least)}–${seconds(most)})`;
}

export function ratioText({ median, least, most }: Summary): string {
  return `${median.toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)})`;
}

/** A dash if there is no value. */
export const orDash = (value: Summary | undefined, text: (value: Summary) => string) =>
  value ? text(value) : "–";

export const seconds = (value: number) =>
  value >= 100 ? value.toFixed(0) : value.toPrecision(value < 0.1 ? 2 : 3);

export const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
export const kilobytes = (bytes: number) => `${(bytes / 1e3).toFixed(0)} kB`;

export function requestsText(requests: Cell["requests"]): string {
  const some = Object.entries(requests).filter(([, count]) => count > 0);
  const text = some.map(([kind, count]) => `${count} ${kind === "list" ? kind : kind.toUpperCase()}`);
  return text.join(", ") || "none";
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (parts: readonly string[]) => `| ${parts.join(" | ")} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map(line)].join(
    "\n",
  );
}

/** The beginning of a page of results: its title, the machine and date, and the command. */
export function pageHead(
  title: string,
  { machine, began }: { machine: string; began: string },
  command: string,
): string {
  return `# ${title}\n\nMeasured on ${began}: ${machine}.\nTo measure and to write this page: \`${command}\`.\n`;
}

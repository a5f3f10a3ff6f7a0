import { goValue } from "./goFormat";
import { type Change, diffProps, isInternalKey, SIGNS } from "./objectDiff";
import { isProps, type Props, Reference, Secret, Unknown, type Value } from "./values";
import { NONE, propsToWire } from "./wire";

/** All secrets alike, as `filterPropertyValue` leaves them: a change of a secret is no difference that is shown. */
export function masked(props: Props): Props {
  const mask = (value: Value): Value => {
    if (value instanceof Secret) return new Secret("[secret]");
    if (Array.isArray(value)) return value.map(mask);
    return isProps(value) ? masked(value) : value;
  };
  return Object.fromEntries(Object.entries(props).map(([key, value]) => [key, mask(value)]));
}

/** Plain data, with `[secret]` in place of each secret. */
export function withoutSecrets(props: Props): Record<string, unknown> {
  const left = Object.entries(props).map(([key, value]) => [key, redact(value)]);
  return propsToWire(Object.fromEntries(left), NONE);
}

/** `+a,b-c~d`: a sign once, before all of its keys. */
export function groupSigns(diff: string[]): string {
  const of = (sign: string): string[] =>
    diff.filter((key) => key.startsWith(sign)).map((key) => key.slice(1));
  return ["+", "-", "~"].map((sign) => (of(sign).length > 0 ? `${sign}${of(sign).join(",")}` : "")).join("");
}

/** An input of something new. */
export function given(key: string, value: Value | undefined): string[] {
  return isInternalKey(key) ? [] : [`      ${key}: ${inline(value ?? null)}`];
}

/** A value as the engine prints it in a message, without secrets; as `RedactSecrets`. */
export function redacted(value: Value | undefined): string {
  return goValue(redact(value ?? null));
}

function redact(value: Value): Value {
  if (value instanceof Secret) return "[secret]";
  if (Array.isArray(value)) return value.map(redact);
  if (!isProps(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redact(item)]));
}

function inline(value: Value | undefined): string {
  if (value instanceof Secret) return "[secret]";
  if (value instanceof Unknown) return "[unknown]";
  if (value instanceof Reference) return value.id ?? value.urn;
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (!isProps(value)) return JSON.stringify(value ?? null);
  const entries = Object.entries(value).filter(([key]) => !isInternalKey(key));
  return `{${entries.map(([key, item]) => `${key}: ${inline(item)}`).join(", ")}}`;
}

/** The changes as a tree: what they have in common once, with what is inside indented below. */
export function tree(changes: Change[], depth: number, indent: string): string[] {
  const lines: string[] = [];
  for (const key of new Set(changes.map(({ path }) => path[depth]))) {
    const inside = changes.filter(({ path }) => path[depth] === key);
    const label = typeof key === "number" ? `[${key}]` : String(key);
    const leaf = inside.find(({ path }) => path.length === depth + 1);
    if (leaf === undefined) {
      lines.push(`${indent}~ ${label}:`, ...tree(inside, depth + 1, `${indent}    `));
      continue;
    }
    const value =
      leaf.kind === "update" ? `${inline(leaf.old)} => ${inline(leaf.new)}` : inline(leaf.old ?? leaf.new);
    lines.push(`${indent}${SIGNS[leaf.kind]} ${label}: ${value}`);
  }
  return lines;
}

/** The stack's outputs, as they were and as they are. */
export function outputLines(olds: Props, outputs: Props): string[] {
  const keys = [...new Set([...Object.keys(olds), ...Object.keys(outputs)])].sort();
  if (keys.length === 0) return [];
  const fresh = Object.keys(olds).length === 0;
  const changes = new Map(
    diffProps(masked(olds), masked(outputs)).map((change) => [String(change.path[0]), change]),
  );
  const lines = keys.map((key) => {
    const [from, to] = [olds[key], outputs[key]];
    if (fresh || !changes.has(key)) return `    ${key}: ${inline(to)}`;
    if (from === undefined) return `  + ${key}: ${inline(to)}`;
    return to === undefined ? `  - ${key}: ${inline(from)}` : `  ~ ${key}: ${inline(from)} => ${inline(to)}`;
  });
  return ["Outputs:", ...lines, ""];
}

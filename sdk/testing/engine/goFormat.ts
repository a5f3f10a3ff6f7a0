import { isProps, Reference, Secret, Unknown, type Value } from "./values";

/**
 * A property value as Go's `%v` prints it, which is how the engine shows the value of a property whose check failed:
 * `{text}`, `{map[a:{1}]}`, `{<nil>}`, and a secret in plain, `{&{{text}}}`.
 */
export function goValue(value: Value | undefined): string {
  if (value === undefined || value === null) return "{<nil>}";
  if (value instanceof Secret) return `{&{${goValue(value.element)}}}`;
  if (value instanceof Unknown) return "{{{}}}";
  if (value instanceof Reference) return `{{${value.urn}   ${goValue(value.id)} ${value.packageVersion}}}`;
  if (Array.isArray(value)) return `{[${value.map(goValue).join(" ")}]}`;
  if (!isProps(value)) return `{${typeof value === "number" ? goNumber(value) : String(value)}}`;
  const keys = Object.keys(value).sort();
  return `{map[${keys.map((key) => `${key}:${goValue(value[key])}`).join(" ")}]}`;
}

/** `%v` of a float64: an exponent of at least two digits from a million on and below a ten-thousandth. */
function goNumber(value: number): string {
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  if (exponent >= -4 && exponent < 6) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

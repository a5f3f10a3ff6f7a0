import type { LiveEndpoint } from "../../provider/api/contract";
import { metadataOf, onPattern, textPattern } from "../../provider/endpoint/lookup";
import { parsePath } from "../propertyPath";
import { UsageError } from "./command";

/* The values of `--select` and `--except`. */

type Selector = (live: LiveEndpoint) => boolean;

/**
 * The selectors of an option.
 *
 * @param addressOf The address of an endpoint in Terraform.
 * @throws UsageError if one of them matches no endpoint, because it is probably misspelt.
 */
export function selectorsOf(
  option: string,
  written: readonly string[],
  all: readonly LiveEndpoint[],
  addressOf: (id: string) => string | undefined,
): Selector[] {
  return written.map((text) => {
    // A key of Terraform may contain *.
    const hasAddress: Selector = ({ id }) => addressOf(id) === text;
    const selects = all.some(hasAddress) ? hasAddress : selectorOf(text, addressOf);
    if (all.some(selects)) return selects;
    throw new UsageError(
      `no cloud endpoint of the account matches ${option} ${text}: it takes a URL in which * matches any text, an id, metadata.KEY=VALUE, binding=NAME, or with --terraform an address`,
    );
  });
}

function selectorOf(text: string, addressOf: (id: string) => string | undefined): Selector {
  const [, field = "", value = ""] = /^(binding|metadata[^=]*)=(.*)$/s.exec(text) ?? [];
  if (field === "binding") return ({ bindings }) => bindings?.includes(value) === true;
  if (field !== "") return (live) => textAt(field, { metadata: metadataOf(live) }) === value;
  const [hasUrl, hasAddress] = [onPattern(text), textPattern(text)];
  return (live) => live.id === text || hasUrl(live) || hasAddress(addressOf(live.id) ?? "");
}

/** The text, number or truth value at a path; undefined if there is none. */
function textAt(path: string, document: unknown): string | undefined {
  const value = parsePath(path)?.reduce<unknown>(
    (part, name) => (Object.hasOwn(Object(part), name) ? Object(part)[name] : undefined),
    document,
  );
  return typeof value === "object" || value === undefined ? undefined : String(value);
}

import type { JsonObject } from "./api/json";
import { MAX_METADATA } from "./api/mark";
import { hasUnknown, wireText } from "./document";
import { nearName } from "./nearName";
import { type CloudEndpointInputs, MAX_DESCRIPTION } from "./schema";

/*
 * What the service may refuse though the contract allows it. The user gets a warning at the preview, and nothing fails:
 * the contract decides, and the service may have changed.
 */

/** The service calls these limits characters with its errors, and bytes elsewhere. */
const LIMITS = [
  ["description", MAX_DESCRIPTION],
  ["metadata", MAX_METADATA],
] as const;

/** The bindings that the public service documents with its error 15005. */
const BINDINGS: readonly string[] = ["public", "internal", "kubernetes"];

/**
 * What an endpoint's inputs may be refused for, as sentences that follow its URL. None of them quotes a value. A text that
 * the service has taken already gives none.
 *
 * @param olds The inputs of the last run; empty for a new resource.
 */
export function inputWarnings(
  inputs: CloudEndpointInputs,
  olds: JsonObject,
  isPublicService: boolean,
): string[] {
  const long = LIMITS.flatMap(([name, most]) => {
    const value = inputs[name];
    if (value === undefined || hasUnknown(value)) return [];
    const text = wireText(value);
    const bytes = Buffer.byteLength(text);
    if (bytes <= most || (olds[name] !== undefined && wireText(olds[name]) === text)) return [];
    return [
      `${name} is within ${most} characters, but has ${bytes} bytes, and the service may count bytes; if it refuses it, shorten it`,
    ];
  });
  const bindings = hasUnknown(inputs.bindings) ? [] : (inputs.bindings ?? []);
  const misspelt = bindings.flatMap((name) => {
    const near = BINDINGS.includes(name) ? undefined : nearName(name, BINDINGS);
    return near ? [`bindings has a name that the public service does not know; did you mean ${near}?`] : [];
  });
  const isNew = Object.keys(olds).length === 0;
  const lacksPolicy = isPublicService && isNew && !inputs.adopt && inputs.trafficPolicy === undefined;
  return lacksPolicy
    ? [
        ...long,
        ...misspelt,
        "trafficPolicy is missing, and the public service refuses to create a cloud endpoint without one; give one with an action that answers, such as forward-internal, custom-response or deny",
      ]
    : [...long, ...misspelt];
}

import type { JsonObject } from "./api/json";
import { MAX_METADATA } from "./api/mark";
import { hasUnknown, wireText } from "./document";
import { nearName } from "./nearName";
import { type CloudEndpointInputs, MAX_DESCRIPTION } from "./schema";

/*
 * Warnings at the preview of inputs that the contract allows, but that the service may refuse. They never block, because the
 * service may have changed.
 */

/** The service's errors state these limits in characters, its documentation states them in bytes. */
const LIMITS = [
  ["description", MAX_DESCRIPTION],
  ["metadata", MAX_METADATA],
] as const;

/** The bindings that the public service knows (documented with its error 15005). */
const BINDINGS: readonly string[] = ["public", "internal", "kubernetes"];

/**
 * The warnings of an endpoint's inputs, as sentences that follow its URL. None quotes a value. A text that the service has
 * already accepted causes none.
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
  const policy =
    "trafficPolicy is missing, and the public service refuses to create a cloud endpoint without one; give one with an action that answers, such as forward-internal, custom-response or deny";
  return [...long, ...misspelt, ...(lacksPolicy ? [policy] : [])];
}

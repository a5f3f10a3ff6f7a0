import type { JsonObject } from "./api/json";
import { MAX_METADATA } from "./api/mark";
import { derivedFromUrl } from "./api/url";
import { hasUnknown, sameData, wireText } from "./document";
import { type CloudEndpointInputs, MAX_DESCRIPTION } from "./fields";
import { nearName } from "./nearName";

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
  // The service has accepted what is not new, and what an adoption finds.
  const isAccepted =
    (isNew && inputs.adopt) ||
    (["url", "bindings"] as const).every((name) => sameData(olds[name], inputs[name]));
  const address = isPublicService && !isAccepted ? addressWarnings(inputs) : [];
  return [...long, ...misspelt, ...address, ...(lacksPolicy ? [policy] : [])];
}

/** The warnings of a URL and bindings that the public service's documentation rules out. Where it contradicts itself, none. */
function addressWarnings({ url, bindings = [] }: CloudEndpointInputs): string[] {
  if (hasUnknown(bindings)) return [];
  if (bindings.length > 1) {
    return [
      `bindings has ${bindings.length} names, but an endpoint of the public service takes one; create an endpoint for each`,
    ];
  }
  const derived = derivedFromUrl(url);
  if (!derived) return [];
  const { proto, publicUrl } = derived;
  const host = publicUrl.slice(`${proto}://`.length);
  const isInternal = host.endsWith(".internal");
  const binding = bindings[0] ?? (isInternal ? "internal" : "public");
  const isPublic = binding === "public";
  const isKubernetes = binding === "kubernetes";
  // A public tcp endpoint has a reserved address, whose host and port are the service's choice.
  const hasDomain = isPublic && proto !== "tcp";
  const port = proto === "http" ? 80 : 443;
  const rules: [isBroken: boolean, warning: string][] = [
    [
      binding === "internal" && !isInternal,
      "with the binding internal, the public service requires a host that ends in .internal",
    ],
    [
      isPublic && isInternal,
      "the public service takes hosts that end in .internal only with the binding internal",
    ],
    [
      hasDomain && url !== publicUrl,
      `the public service has public ${proto} endpoints only on port ${port} (error 18023); leave the port out`,
    ],
    [hasDomain && host.includes("_"), "the public service allows no underscores in a host (error 355)"],
    [
      hasDomain && (!host.includes(".") || /^[\d.]+$/.test(host)),
      "on the public service, a public host must be a domain",
    ],
    [
      isKubernetes && proto === "https",
      "on the public service, the binding kubernetes takes no https (error 18018); use http or tcp",
    ],
    [
      isKubernetes && !/^[^.*]+\.[^.*]+$/.test(host),
      "with the binding kubernetes, the public service requires a host of the form name.namespace",
    ],
  ];
  return rules.flatMap(([isBroken, warning]) => (isBroken ? [warning] : []));
}

import { domainToASCII } from "node:url";

/** The schemes of endpoints with their default ports. As the public service does, normalized URLs omit these ports. */
const DEFAULT_PORT: Readonly<Record<string, number | undefined>> = {
  http: 80,
  https: 443,
  tls: 443,
  tcp: undefined,
};

const EXAMPLE = "https://shop.example.com";
const PARTS =
  /^([a-z][a-z0-9+.-]*):\/\/(?:([^/?#]*)@)?(\[[0-9a-f:.]*\]|[^/?#:@[\]\s]*)(?::([^/?#]*))?([/?#].*)?$/is;

interface Address {
  scheme: string;
  host: string;
  /** Undefined for the scheme's default port. */
  port: number | undefined;
}

/**
 * Normalizes an endpoint's URL: lower-case scheme and host, no default port, no trailing slash. Undefined for text that is no
 * endpoint's URL; `urlProblem` gives the reason.
 */
export function normalizeUrl(url: string): string | undefined {
  const address = parse(url);
  if (typeof address === "string") return undefined;
  return `${address.scheme}://${address.host}${address.port === undefined ? "" : `:${address.port}`}`;
}

/** Why text is no endpoint's URL, and what would be right. Undefined for a valid URL. Never quotes credentials. */
export function urlProblem(url: string): string | undefined {
  const address = parse(url);
  return typeof address === "string" ? address : undefined;
}

/** The fields that the service derives from an endpoint's URL. Undefined for text that is no endpoint's URL. */
export function derivedFromUrl(url: string) {
  const address = parse(url);
  if (typeof address === "string") return undefined;
  const { scheme, host, port = DEFAULT_PORT[scheme] } = address;
  return { publicUrl: `${scheme}://${host}`, hostport: `${host}:${port}`, proto: scheme };
}

function parse(url: string): Address | string {
  if (url.trim() === "") return `is empty; write scheme and host, as in ${EXAMPLE}`;
  const parts = PARTS.exec(url.trim());
  if (!parts) return `is not a URL; write scheme and host, as in ${EXAMPLE}`;
  const [, schemeText = "", credentials, hostText = "", portText, rest] = parts;

  const scheme = schemeText.toLowerCase();
  if (!Object.hasOwn(DEFAULT_PORT, scheme))
    return "has a scheme that no endpoint serves; write http, https, tls or tcp";
  if (credentials !== undefined) return "contains credentials; write only scheme and host";
  if (rest !== undefined && rest !== "/") {
    return `has a path, query or fragment; an endpoint serves a whole host, as in ${EXAMPLE} (route paths in the traffic policy)`;
  }

  const host = hostText.startsWith("[") ? hostText.toLowerCase() : asciiHost(hostText);
  if (!host) return `has no usable host; write one, as in ${EXAMPLE}`;
  if (host.lastIndexOf("*") > 0 || (host.startsWith("*") && !host.startsWith("*."))) {
    return "has a wildcard in the wrong place; only the whole first label can be one, as in https://*.example.com";
  }

  if (portText === undefined || portText === "") {
    if (scheme === "tcp") return "has no port; tcp needs one, as in tcp://1.tcp.example.com:12345";
    return { scheme, host, port: undefined };
  }
  const port = /^\d+$/.test(portText) ? Number(portText) : 0;
  if (port < 1 || port > 65_535) return "has a port that is not a number from 1 to 65535";
  return { scheme, host, port: port === DEFAULT_PORT[scheme] ? undefined : port };
}

/** A host in the service's form, with international names in ASCII. Empty for text that is no host name. */
function asciiHost(host: string): string {
  const wildcard = host.startsWith("*.") ? "*." : "";
  const ascii = domainToASCII(host.slice(wildcard.length));
  return ascii && wildcard + ascii;
}

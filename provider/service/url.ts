import { derivedFromUrl, normalizeUrl } from "../data/index";
import type { Endpoint } from "./contract";

/** An endpoint's normalized URL. Edges only have a public URL. */
export function urlOf({ url, publicUrl }: Pick<Endpoint, "url" | "publicUrl">): string | undefined {
  const given = url ?? publicUrl;
  return given === undefined ? undefined : (normalizeUrl(given) ?? given);
}

/** Whether a host name is one of this machine's own addresses. */
export const isLoopback = (hostname: string): boolean =>
  /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname);

/** The spellings in which the service may store a normalized URL. The contract does not require that it normalizes URLs. */
export function urlSpellings(url: string): string[] {
  const withPort = ["80", "443"].map((port) => `${url}:${port}`);
  return [url, `${url}/`, ...withPort.filter((spelling) => normalizeUrl(spelling) === url)];
}

/** Whether two URLs have different schemes, so that an update in place is impossible. False for an unknown value. */
export function schemeDiffers(from: unknown, to: unknown): boolean {
  const schemeOf = (url: unknown) => (typeof url === "string" ? derivedFromUrl(url)?.proto : undefined);
  const [before, after] = [schemeOf(from), schemeOf(to)];
  return before !== undefined && after !== undefined && before !== after;
}

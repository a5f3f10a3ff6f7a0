/** The target of a request, in its parts. */
export interface Target {
  /** Path and query, as they came; what the application is asked for. */
  uri: string;
  /** The path as it came, `/a%20b`. */
  rawPath: string;
  /** The path, decoded: `/a b`. Slashes and dots stay where they are. */
  path: string;
  /** Without its question mark. */
  query: string;
}

/**
 * Takes a target apart. Not by the rules of links: `//brex/1` is a path here and no host, and a server that took it for
 * one would verify another path than the application serves. Undefined for what no server can understand.
 */
export function parseTarget(text: string): Target | undefined {
  // A client that takes this for a proxy sends the whole URL.
  const rest = text.replace(/^https?:\/\/[^/?]+/i, "");
  const uri = rest !== text && !rest.startsWith("/") ? `/${rest}` : rest;
  if (!uri.startsWith("/")) return undefined;
  const [, rawPath = "", query = ""] = /^([^?]*)\??(.*)$/s.exec(uri) ?? [];
  const path = decoded(rawPath);
  return path === undefined ? undefined : { uri, rawPath, path, query };
}

/** The text behind percent signs; undefined where one is followed by no two digits. */
function decoded(text: string): string | undefined {
  if (/%(?![0-9a-f]{2})/i.test(text)) return undefined;
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}

import type { RequestFunctions, Variables } from "./evaluate";
import type { Header, PolicyReply, PolicyRequest } from "./messages";
import { notSimulated, partlyKnown } from "./trace";

/* The values of the variables that describe a request and its response. */

/** Headers that policies cannot read here. The documentation does not say when the service adds them. */
export const FORWARDED_HEADER = /^x-forwarded-(?:for|host|proto)$/i;

/** Whether the reply lacks a header that the service or an application's server may still add. */
export const mayBeAdded = (name: string, { status, headers }: PolicyReply): boolean =>
  headerOf(headers, name) === undefined &&
  (["content-length", "content-type", "date", "server", "connection", "transfer-encoding"].includes(name) ||
    (name === "retry-after" && status === 429));

/** The value of the first header with this lower-case name. */
export const headerOf = (headers: readonly Header[], name: string): string | undefined =>
  headers.find(([each]) => each.toLowerCase() === name)?.[1];

/** The values of each name, in their order. */
function listsByName(pairs: readonly Header[]): Record<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const [name, value] of pairs) lists.set(name, [...(lists.get(name) ?? []), value]);
  return Object.fromEntries(lists);
}

/** Headers as expressions read them. To read a header fails if the service may add it, and so does the list of all names. */
const readableHeaders = (headers: readonly Header[], isAdded: (name: string) => boolean) =>
  partlyKnown(headerValues(headers), (name) =>
    name === undefined
      ? "the list of headers, to which the service adds some,"
      : isAdded(name) && `the header ${name}, which the service adds,`,
  );
const headerValues = (headers: readonly Header[]) =>
  listsByName(headers.map(([name, value]) => [name.toLowerCase(), value]));

/** Content types that all libraries read in the same way. */
const PLAIN_TYPE = /^[a-z\d!#$&^_.+-]+\/[a-z\d!#$&^_.+-]+(?:; ?[a-z\d_-]+=[^\s;",]+)*$/;

function contentOf(prefix: "req" | "res", headers: readonly Header[]): Variables {
  /** The documentation does not say whether a variable is absent or empty if its header is missing. */
  const given = (name: string) =>
    headerOf(headers, name) ?? notSimulated(`a variable of the missing header ${name}`);
  const raw = () => given("content-type");
  const parts = () =>
    PLAIN_TYPE.test(raw()) ? raw().split(/; ?/) : notSimulated(`the parts of the content-type ${raw()}`);
  return {
    [`${prefix}.content_encoding`]: () => given("content-encoding").split(/\s*,\s*/),
    [`${prefix}.content_type`]: () => parts()[0],
    [`${prefix}.content_type.raw`]: raw,
    [`${prefix}.content_type.parameters`]: () =>
      Object.fromEntries(
        parts()
          .slice(1)
          .map((part) => part.split("=")),
      ),
    [`${prefix}.location`]: () => given("location"),
  };
}

export function requestValues({ method, url, headers }: PolicyRequest, now: Date): Variables {
  const [, scheme = "", authority = "", rawPath = "", query = ""] =
    /^(\w+):\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?/.exec(url) ?? [];
  const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(authority) ?? [];
  const tail = query ? `?${query}` : "";
  /** The documentation does not say whether the service decodes the path and merges slashes. */
  const path = () =>
    /%|\/\//.test(rawPath)
      ? notSimulated(`the path ${rawPath}, which the service may decode (req.url.raw_path works),`)
      : rawPath;
  const length = headerOf(headers, "content-length");
  return {
    ...contentOf("req", headers),
    "req.content_length": () => (length === undefined ? undefined : BigInt(length)),
    "req.headers": () => readableHeaders(headers, (name) => FORWARDED_HEADER.test(name)),
    "req.method": () => method,
    "req.host": () => headerOf(headers, "host") ?? authority,
    "req.cookies": () => cookiesOf(headers),
    "req.trailers": () => ({}),
    "req.ts.header_received": () => now,
    "req.user_agent": () =>
      headerOf(headers, "user-agent") ?? notSimulated("the variable of a missing user-agent"),
    "req.url": () => `${scheme}://${authority}${path()}${tail}`,
    "req.url.authority": () => authority,
    "req.url.host": () => host,
    "req.url.path": path,
    "req.url.port": () => (port === undefined ? undefined : BigInt(port)),
    "req.url.query": () => query,
    "req.url.query_params": () => listsByName([...paramsOf(query)]),
    "req.url.raw": () => url,
    "req.url.raw_path": () => rawPath,
    "req.url.scheme": () => scheme,
    "req.url.uri": () => path() + tail,
  };
}

export function responseValues(reply: PolicyReply): Variables {
  const { status, headers } = reply;
  const length = () =>
    headerOf(headers, "content-length") ?? notSimulated("the length of this reply, which the service adds,");
  return {
    ...contentOf("res", headers),
    "res.content_length": () => BigInt(length()),
    "res.headers": () => readableHeaders(headers, (name) => mayBeAdded(name, reply)),
    "res.status_code": () => BigInt(status),
    "res.trailers": () => ({}),
  };
}

export function endpointValues({ url, id }: { url: string; id?: string | undefined }, now: Date): Variables {
  const { protocol, hostname: written, port } = new URL(url);
  const number = port || (protocol === "https:" ? "443" : "80");
  const isWildcard = written.startsWith("*");
  const hostname = () => (isWildcard ? notSimulated("the address of a wildcard endpoint") : written);
  return {
    "time.now": () => now.toISOString().replace(/\.\d+Z$/, "Z"),
    "endpoint.addr": () => `${hostname()}:${number}`,
    "endpoint.host": hostname,
    ...(id !== undefined && { "endpoint.id": () => id }),
    "endpoint.port": () => BigInt(number),
    "endpoint.protocol": () => protocol.slice(0, -1),
    "endpoint.url": () => hostname() && url,
  };
}

/** The parameters of a query. Other queries are refused, because parsers read them in different ways. */
function paramsOf(query: string): URLSearchParams {
  try {
    // The added question mark is dropped, so that one at the beginning of the query stays.
    if (!query.includes(";") && decodeURIComponent(query) !== undefined)
      return new URLSearchParams(`?${query}`);
  } catch {
    // The query has an invalid %, or bytes that are no UTF-8.
  }
  return notSimulated("the parameters of a query with ; or an invalid %");
}

/** The list under a client's name. Empty also for a name such as `toString` that every object has. */
const listIn = <T>(lists: Record<string, T[]>, name: string): T[] =>
  Object.hasOwn(lists, name) ? (lists[name] ?? []) : [];

/** Cookies that all libraries read in the same way. */
const PLAIN_COOKIES = /^(?:(?:^|; )[\w!#$%&'*+.^`|~-]+=[!#-+\--:<-[\]-~]*)+$/;

function cookiesOf(headers: readonly Header[]): Record<string, { name: string; value: string }[]> {
  const all = headers.flatMap(([name, value]) =>
    name.toLowerCase() === "cookie"
      ? PLAIN_COOKIES.test(value)
        ? value.split("; ")
        : notSimulated("this list of cookies")
      : [],
  );
  const cookies = new Map<string, { name: string; value: string }[]>();
  for (const part of all) {
    const [name = "", value = ""] = part.split(/=(.*)/s);
    cookies.set(name, [...(cookies.get(name) ?? []), { name, value }]);
  }
  return Object.fromEntries(cookies);
}

/** The lower-case name. Refuses names in other forms than `X-Github-Event`, because the service's pages contradict each other. */
function canonical(name: string): string {
  const right = name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
  if (name === right) return name.toLowerCase();
  return notSimulated(`the header name ${name} in a function (write ${right})`);
}

/** The functions that read the request and the response, by name. */
export function requestFunctions(request: PolicyRequest, reply: PolicyReply | undefined): RequestFunctions {
  const values = (headers: readonly Header[], name: string) => listIn(headerValues(headers), canonical(name));
  const ofRequest = (name: string) =>
    FORWARDED_HEADER.test(name)
      ? notSimulated(`the header ${name}, which the service adds,`)
      : values(request.headers, name);
  const ofReply = (name: string) =>
    reply && mayBeAdded(name.toLowerCase(), reply)
      ? notSimulated(`the header ${name}, which the service adds,`)
      : values(reply?.headers ?? [], name);
  const params = () => paramsOf(new URL(request.url).search.slice(1));
  const cookies = (name: string) => listIn(cookiesOf(request.headers), name);
  return {
    getReqHeader: ofRequest,
    hasReqHeader: (name: string) => ofRequest(name).length > 0,
    getQueryParam: (name: string) => params().getAll(name),
    hasQueryParam: (name: string) => params().has(name),
    getReqCookie: (name: string) =>
      cookies(name)[0] ?? notSimulated(`getReqCookie() of the cookie ${name}, which this request lacks,`),
    hasReqCookie: (name: string) => cookies(name).length > 0,
    getResHeader: ofReply,
    hasResHeader: (name: string) => ofReply(name).length > 0,
    hasResCookie: (name: string) => ofReply("Set-Cookie").some((cookie) => cookie.startsWith(`${name}=`)),
  };
}

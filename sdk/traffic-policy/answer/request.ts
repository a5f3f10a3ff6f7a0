import type { Header, PolicyRequest } from "./messages";
import { notSimulated } from "./trace";
import { FORWARDED_HEADER, headerOf } from "./values";

/* Checks requests. The documentation does not say how the service treats a request that no ordinary client sends. */

/** Headers that a request may have only once, because the documentation does not say which of several counts. */
const ONCE = ["host", "content-type", "content-encoding", "content-length", "user-agent", "authorization"];

/** @throws RequestNotSimulated if no ordinary client would send the request. */
export function checkRequest({ method, url, headers, body }: PolicyRequest): void {
  if (!/^[A-Z]+$/.test(method) || method === "CONNECT" || method === "TRACE")
    notSimulated(`the method ${method}`);
  if (!URL.canParse(url) || normalUrl(url) !== url) notSimulated(`the URL ${url}`);
  for (const [name, value] of headers) {
    checkHeader([name, value]);
    const lower = name.toLowerCase();
    if (FORWARDED_HEADER.test(name) || lower === "upgrade") notSimulated(`a request with the header ${name}`);
    if (ONCE.includes(lower) && headers.filter(([other]) => other.toLowerCase() === lower).length > 1)
      notSimulated(`a request with several headers ${name}`);
  }
  const host = headerOf(headers, "host");
  if (host !== new URL(url).host) notSimulated(`a request to ${url} whose header Host is ${host}`);
  const length = headerOf(headers, "content-length");
  if (length !== undefined && length !== `${body.length}`) notSimulated(`a wrong content-length, ${length},`);
}

/** @throws RequestNotSimulated if clients, the service and applications might read the header in different ways. */
export function checkHeader([name, value]: Header): void {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) notSimulated(`the header name ${JSON.stringify(name)}`);
  if (!/^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(value)) notSimulated(`the value of the header ${name}`);
}

/** A URL as clients send it: encoded, with scheme and host in lower case, and without a default port. */
export function normalUrl(url: string): string {
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol}//${host}${pathname}${search}`;
}

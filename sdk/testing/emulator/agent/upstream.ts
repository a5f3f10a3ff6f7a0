/**
 * Where the application listens. A port is one of 127.0.0.1, and what has no scheme is http.
 *
 * @throws Error for anything else, without quoting it.
 */
export function upstreamUrl(upstream: number | string): URL {
  const text = /^\d+$/.test(`${upstream}`) ? `127.0.0.1:${upstream}` : `${upstream}`;
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Error("upstream must be a port, host and port, or a URL, as in http://localhost:8080");
  }
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw new Error("upstream has a path, query or fragment; agents pass each request's own path on");
  }
  return url;
}

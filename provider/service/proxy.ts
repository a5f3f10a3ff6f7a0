import { BlockList, isIP, isIPv6 } from "node:net";
import { UserError } from "./apiErrors";
import { isLoopback } from "./url";

/*
 * The proxy of the environment. The package talks to one service, so it decides once. Unlike undici's own agent for this, it reads
 * `NO_PROXY` as Go programs such as Pulumi's CLI do: also networks, `*` among other items, and IPv6 addresses without brackets.
 */

/**
 * The proxy for requests to this URL; undefined if they need none.
 *
 * @throws UserError if the variable is not the URL of a proxy. The message leaves out the value, which may have a password.
 */
export function proxyFor(baseUrl: string, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const url = new URL(baseUrl);
  const variables = ["http_proxy", "HTTP_PROXY"];
  if (url.protocol === "https:") variables.unshift("https_proxy", "HTTPS_PROXY");
  const variable = variables.find((name) => environment[name]);
  // A proxy would look for this machine's address on itself.
  if (variable === undefined || isLoopback(url.hostname)) return undefined;
  if (isExcluded(url, environment["no_proxy"] || environment["NO_PROXY"] || "")) return undefined;
  const written = environment[variable] ?? "";
  const proxy = /^[a-z][a-z\d+.-]*:\/\//i.test(written) ? written : `http://${written}`;
  if (URL.canParse(proxy) && ["http:", "https:"].includes(new URL(proxy).protocol)) return proxy;
  throw new UserError(
    `${variable} is not the URL of an HTTP proxy, such as http://proxy.example.com:3128; correct it, or unset it`,
  );
}

function isExcluded({ protocol, hostname, port }: URL, list: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const hostPort = port || (protocol === "https:" ? "443" : "80");
  return list
    .toLowerCase()
    .split(/[,\s]+/)
    .some((item) => {
      if (item === "*") return true;
      if (isNetworkWith(host, item)) return true;
      const [, name = item, itemPort = hostPort] =
        /^(.+?|\[.*\]):(\d+)$/.exec(isIPv6(item) ? "" : item) ?? [];
      const known = name.replace(/^\[|\]$/g, "").replace(/^\*?\./, "");
      return known !== "" && itemPort === hostPort && (host === known || host.endsWith(`.${known}`));
    });
}

/** Whether an item is a network (`10.0.0.0/8`) with this address. */
function isNetworkWith(host: string, item: string): boolean {
  const [, network = "", bits = ""] = /^(.+)\/(\d{1,3})$/.exec(item) ?? [];
  const version = isIP(network);
  if (version === 0 || version !== isIP(host) || Number(bits) > (version === 4 ? 32 : 128)) return false;
  const family = version === 4 ? "ipv4" : "ipv6";
  const networks = new BlockList();
  networks.addSubnet(network, Number(bits), family);
  return networks.check(host, family);
}

import { ServiceError } from "./errors";

const DEFAULT_PORTS: Record<string, number | undefined> = { http: 80, https: 443, tls: 443, tcp: undefined };
const HOST = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/;

/** What the service derives from the URL that it was given. */
export type Address = ReturnType<typeof addressOf>;

/**
 * Reads an endpoint's URL: scheme, host and, where the scheme has no default, a port; nothing after it. What hangs
 * on the account (reserved domains, plans) or on a binding (which ports and hosts it takes) is not checked.
 */
export function addressOf(written: string) {
  const { scheme, authority } =
    /^(?:(?<scheme>[a-z][a-z0-9+.-]*):\/\/)?(?<authority>[^\s]+)$/i.exec(written)?.groups ?? {};
  if (!authority) throw new ServiceError(249, written);
  if (!scheme) throw new ServiceError(18022, written);
  const proto = scheme.toLowerCase();
  if (!Object.hasOwn(DEFAULT_PORTS, proto)) throw new ServiceError(18001, written, `its scheme is ${proto}`);
  if (/[/?#@]/.test(authority)) {
    throw new ServiceError(18001, written, "it has more than a scheme, a host and a port");
  }
  const [host = "", givenPort, ...rest] = authority.toLowerCase().split(":");
  if (!HOST.test(host) || rest.length > 0)
    throw new ServiceError(18001, written, "its host is not a host name");
  const port = givenPort || DEFAULT_PORTS[proto];
  if (!port) throw new ServiceError(18003, written);
  if (!/^\d{1,5}$/.test(`${port}`) || Number(port) < 1 || Number(port) > 65535) {
    throw new ServiceError(18001, written, "its port is not a number from 1 to 65535");
  }
  const publicUrl = `${proto}://${host}`;
  return {
    /** Scheme and host in lower case, a default port left out. */
    url: Number(port) === DEFAULT_PORTS[proto] ? publicUrl : `${publicUrl}:${Number(port)}`,
    /** Without its port. */
    public_url: publicUrl,
    /** Always with the port. */
    hostport: `${host}:${Number(port)}`,
    proto,
    host,
    /** Internal hosts are a namespace of the account: nothing is reserved for them. */
    internal: host.endsWith(".internal"),
  };
}

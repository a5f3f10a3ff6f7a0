import { BlockList, isIP } from "node:net";
import { notSimulated } from "./trace";

export function isCidr(text: string): boolean {
  const [, address = "", length = ""] = /^([^/]+)\/(0|[1-9]\d*)$/.exec(text) ?? [];
  return isIP(address) > 0 && Number(length) <= (isIP(address) === 4 ? 32 : 128);
}

/** Whether a text has IPv4 as IPv6, a zone, or a length with a leading 0. Go's libraries read them differently. */
function isAmbiguous(text: string): boolean {
  const [address = ""] = text.split("/");
  if (/%|:.*\.|\/0\d/.test(text)) return true;
  return isIP(address) === 6 && new URL(`http://[${address}]`).hostname.startsWith("[::ffff:");
}

/** Whether one of the networks contains the address. An invalid network contains none. */
export function inCidrs(ip: string, list: readonly string[]): boolean {
  if ([ip, ...list].some(isAmbiguous))
    notSimulated("an IPv4 address as IPv6, a zone, or a length with a leading 0,");
  const family = isIP(ip);
  if (family === 0) notSimulated("a text that is no address");
  const type = family === 6 ? "ipv6" : "ipv4";
  const networks = new BlockList();
  for (const cidr of list) {
    const [address = "", length] = cidr.split("/");
    // Only networks of the same family, because `BlockList` would find an IPv4 address in a network of IPv6.
    if (isCidr(cidr) && isIP(address) === family) networks.addSubnet(address, Number(length), type);
  }
  return networks.check(ip, type);
}

import { BlockList, isIP } from "node:net";
import { NotSimulated } from "./trace";

/* Networks in CIDR notation. */

export function isCidr(text: string): boolean {
  const [, address = "", length = ""] = /^([^/]+)\/(\d+)$/.exec(text) ?? [];
  return isIP(address) > 0 && Number(length) <= (isIP(address) === 4 ? 32 : 128);
}

function cidrs(list: readonly string[]): BlockList {
  const blocks = new BlockList();
  for (const cidr of list) {
    if (!isCidr(cidr)) continue;
    const [address = "", length] = cidr.split("/");
    blocks.addSubnet(address, Number(length), isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  return blocks;
}

/** Whether one of the networks contains the address. An invalid network contains none. */
export function inCidrs(ip: string, list: readonly string[]): boolean {
  // Go's libraries disagree about these forms, and the documentation does not mention them.
  if ([ip, ...list].some((each) => /^::ffff:|%/i.test(each)))
    throw new NotSimulated("an IPv4 address as IPv6, or a zone,");
  const family = isIP(ip);
  // A network of IPv6 contains no address of IPv4, but `BlockList` would say so.
  const ofFamily = list.filter((cidr) => isIP(cidr.split("/")[0] ?? "") === family);
  return family > 0 && cidrs(ofFamily).check(ip, family === 6 ? "ipv6" : "ipv4");
}

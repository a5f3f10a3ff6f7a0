import { randomInt } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** As many random base62 characters; the service's ids have 27. */
export function base62(length = 27): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join("");
}

/** A key of the service's form: 27 characters, an underscore, 21 characters. */
export const newApiKey = () => `${base62(27)}_${base62(21)}`;

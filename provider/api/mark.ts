import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { Mark, Owner } from "./contract";
import { canonicalJson, isMapping, parseJson } from "./json";

/*
 * Marked creates (`endpoints:mark`). A mark is a reserved key of the metadata object. It names the resource that an endpoint was
 * created for, and identifies a single create. It is added to requests and removed from replies, so no other code sees it.
 */

/** The most characters of metadata (documented with the service's error 18013). */
export const MAX_METADATA = 4096;

/** The reserved key of the metadata object. */
export const MARK_FIELD = "pulumi-endpoints";

const markSchema: z.ZodType<Mark> = z.object({
  namespace: z.string(),
  project: z.string(),
  stack: z.string(),
  resource: z.string(),
  nonce: z.string(),
});

/** The owner from a resource's URN, without the resource's own type, because a stack may change its provider. */
export function ownerOf(namespace: string, urn: string): Owner {
  const [stack = "", project = "", types = "", ...name] = urn.replace("urn:pulumi:", "").split("::");
  const parents = types.split("$").slice(0, -1).join("$");
  const resource = [...(parents === "" ? [] : [parents]), ...name].join("::");
  return { namespace, project, stack, resource };
}

export const isSameOwner = (one: Owner | undefined, other: Owner | undefined): boolean =>
  one !== undefined && other !== undefined && ownerText(one) === ownerText(other);

/** An owner in messages and reports. */
export const ownerText = ({ namespace, project, stack, resource }: Owner): string =>
  `${resource} of the stack ${project}/${stack} (${namespace})`;

export const parseMark = (value: unknown): Mark | undefined => markSchema.safeParse(value).data;

/** A random number, in hexadecimal digits. */
export const newNonce = (): string => randomBytes(8).toString("hex");

/** Removes the mark from live metadata. A mark alone is no metadata. */
export function withoutMark(metadata: string | undefined): { metadata?: string | undefined; mark?: Mark } {
  if (!metadata?.includes(`"${MARK_FIELD}"`)) return { metadata };
  const data = dataOf(metadata);
  const mark = parseMark(data?.[MARK_FIELD]);
  if (!data || !mark) return { metadata };
  const { [MARK_FIELD]: _, ...rest } = data;
  return { metadata: Object.keys(rest).length > 0 ? canonicalJson(rest) : undefined, mark };
}

/** The metadata's text with the mark. Undefined if the metadata is text or a list, or would get too long. */
export function withMark(metadata: unknown, mark: Mark): string | undefined {
  if (metadata !== undefined && !isMapping(metadata)) return undefined;
  const text = canonicalJson({ ...metadata, [MARK_FIELD]: mark });
  // Services count bytes or characters, and there are never fewer bytes.
  return Buffer.byteLength(text) > MAX_METADATA ? undefined : text;
}

function dataOf(text: string): { [key: string]: unknown } | undefined {
  try {
    const data = parseJson(text);
    return isMapping(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

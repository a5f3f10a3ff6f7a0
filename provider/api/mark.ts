import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { LiveEndpoint, Mark, Owner } from "./contract";
import { canonicalJson, isMapping, jsonOf } from "./json";
import { oneLine } from "./text";

/*
 * Marked creates (`endpoints:mark`). A mark is a reserved key of the metadata object. It names the resource that an endpoint was
 * created for, and identifies a single create or adoption. It is added to requests and removed from replies, so no other code
 * sees it.
 */

/** The most characters of metadata (documented with the service's error 18013). */
export const MAX_METADATA = 4096;

/** The reserved key of the metadata object. */
export const MARK_FIELD = "pulumi-endpoints";

/** A later version may add fields. */
const markSchema: z.ZodType<Mark> = z.looseObject({
  namespace: z.string(),
  urn: z.string(),
  nonce: z.string(),
  time: z.string(),
});

export const isSameOwner = (one: Owner | undefined, other: Owner | undefined): boolean =>
  one !== undefined && one.namespace === other?.namespace && one.urn === other.urn;

/** The parts of an owner's URN. `types` names the resource's type after those of the components that it is in. */
export function partsOf({ urn }: Pick<Owner, "urn">): {
  stack: string;
  project: string;
  types: string;
  name: string;
} {
  const [stack = "", project = "", types = "", ...name] = urn.replace("urn:pulumi:", "").split("::");
  return { stack, project, types, name: name.join("::") };
}

export function isSameStack(one: Owner | undefined, other: Owner | undefined): boolean {
  if (one === undefined || one.namespace !== other?.namespace) return false;
  const [mine, others] = [partsOf(one), partsOf(other)];
  return mine.stack === others.stack && mine.project === others.project;
}

/** An owner's stack in messages. */
export function stackText(owner: Owner): string {
  const { stack, project } = partsOf(owner);
  return oneLine(`${project}/${stack} (${owner.namespace})`, 200);
}

/** An owner in messages and reports. */
export function ownerText(owner: Owner): string {
  const { types, name } = partsOf(owner);
  const parents = types.split("$").slice(0, -1).join("$");
  return `'${parents && `${parents}::`}${name}' of the stack ${stackText(owner)}`;
}

/** How far the time of a mark may be from its endpoint's `created_at`, in milliseconds. */
const SAME_TIME = 60_000;

/** The endpoint's mark. Undefined for one that somebody copied with the metadata of another endpoint. */
export const ownMark = (live: LiveEndpoint): Mark | undefined =>
  distance(live) > SAME_TIME ? undefined : live.createdFor;

/** Whether the times prove that the mark was made for this endpoint. */
export const isProven = (live: LiveEndpoint): boolean => distance(live) <= SAME_TIME;

/** How far the mark's time is from the endpoint's creation; NaN if that is unknown. */
const distance = ({ createdFor, createdAt }: LiveEndpoint): number =>
  Math.abs(Date.parse(createdFor?.time ?? "") - Date.parse(createdAt ?? ""));

export const parseMark = (value: unknown): Mark | undefined => markSchema.safeParse(value).data;

/** A random number, in hexadecimal digits. */
export const randomNumber = (): string => randomBytes(8).toString("hex");

/** Live metadata without the mark, and the mark. A mark alone is no metadata. */
export function withoutMark(metadata: unknown): Pick<LiveEndpoint, "metadata" | "createdFor"> {
  if (typeof metadata !== "string") return {};
  const data = metadata.includes(`"${MARK_FIELD}"`) ? jsonOf(metadata) : undefined;
  if (!isMapping(data)) return { metadata };
  const { [MARK_FIELD]: mark, ...rest } = data;
  const createdFor = parseMark(mark);
  if (!createdFor) return { metadata };
  return { createdFor, ...(Object.keys(rest).length > 0 && { metadata: canonicalJson(rest) }) };
}

/** The metadata's text with the mark. Undefined if the metadata is text or a list, or would get too long. */
export function withMark(metadata: unknown, mark: Mark): string | undefined {
  if (metadata !== undefined && !isMapping(metadata)) return undefined;
  const text = canonicalJson({ ...metadata, [MARK_FIELD]: mark });
  // Services count bytes or characters, and there are never fewer bytes.
  return Buffer.byteLength(text) > MAX_METADATA ? undefined : text;
}

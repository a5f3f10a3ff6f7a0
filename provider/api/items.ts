import type { z } from "zod";
import type { Endpoint, JsonObject } from "../schema";
import { plain } from "../userError";
import { endpointFromWire } from "../wire";

/* The items of the list, which are parsed one by one: a bad one never spoils the others. */

/** An endpoint with whatever else the service said of it. */
export type LiveEndpoint = Endpoint & JsonObject;

/** A list item that could not be read. It is left out, and must be reported. */
export interface SkippedItem {
  /** The item's id, where it has one. */
  id: string | undefined;
  reason: string;
}

/** More are only counted. */
const MOST_SKIPPED = 10;

/** How skipped items are reported, by the provider and by the data sources. */
export function skippedMessages(skipped: readonly SkippedItem[]): string[] {
  const told = skipped.slice(0, MOST_SKIPPED).map(({ id, reason }) => {
    const name = id === undefined ? "without an id" : plain(id, 100);
    return `the service's list holds an endpoint (${name}) that cannot be read, and is left out: ${reason}`;
  });
  const more = skipped.length - told.length;
  return more > 0 ? [...told, `the service's list holds ${more} more endpoints that cannot be read`] : told;
}

export interface Page {
  endpoints: LiveEndpoint[];
  skipped: SkippedItem[];
}

/** The endpoints among a page's items; one that cannot be read is skipped. */
export function parseItems(items: unknown[]): Page {
  const page: Page = { endpoints: [], skipped: [] };
  for (const item of items) {
    const parsed = endpointFromWire.safeParse(item);
    if (parsed.success) page.endpoints.push(parsed.data);
    else page.skipped.push({ id: idOf(item), reason: reasonOf(parsed.error) });
  }
  return page;
}

/** The id of an item that nobody has looked at, where it has one. */
export function idOf(item: unknown): string | undefined {
  return typeof item === "object" && item !== null && "id" in item && typeof item.id === "string"
    ? item.id
    : undefined;
}

function reasonOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join(".") || "item"}: ${issue.message}`)
    .join("; ");
}

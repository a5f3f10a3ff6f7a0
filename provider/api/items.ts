import type { z } from "zod";
import { isMapping } from "./json";
import { plain } from "./userError";
import { endpointFromWire, type LiveEndpoint } from "./wire";

/* The items of the list, which are parsed one by one: a bad one never spoils the others. */

export type { LiveEndpoint } from "./wire";

/** A list item that could not be read. It is left out, and must be reported. */
export interface SkippedItem {
  /** The item's id, where it has one. */
  id: string | undefined;
  /** The item's URL, where it has one. */
  url: string | undefined;
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
    else
      page.skipped.push({ id: textOf(item, "id"), url: textOf(item, "url"), reason: reasonOf(parsed.error) });
  }
  return page;
}

/** The id of an item that nobody has looked at, where it has one. */
export const idOf = (item: unknown): string | undefined => textOf(item, "id");

function textOf(item: unknown, name: string): string | undefined {
  const value = isMapping(item) ? item[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

function reasonOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join(".") || "item"}: ${issue.message}`)
    .join("; ");
}

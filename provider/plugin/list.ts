import { type ListRequest, ListResponse } from "@pulumi/pulumi/proto/provider_pb";
import { z } from "zod";
import { UserError } from "../api/apiErrors";
import { TYPES } from "../api/config";
import type { LiveEndpoint } from "../api/contract";
import type { EndpointsApi } from "../api/endpoints";
import { didYouMean, oneLine } from "../api/text";
import { hasUnknown } from "../endpoint/documents";
import { unknownToken } from "../endpoint/errors";
import { endpointsFilter, firstEndpoints } from "../endpoint/lookup";
import { received } from "./values";

/** The filters: those of `getEndpoints`, but always of cloud endpoints, because Pulumi can read and import no others. */
const { types: _, ...filters } = endpointsFilter;
export const listFilters = filters;

/** The results of a page if the engine asks for no size: as many as a page of the public service has. */
const PAGE = 100;

/*
 * A listing shows the endpoints newest first, and none twice. A continuation token stands for a place in it: after the last
 * endpoint of the page before. Newer endpoints come before that place, so those that are created in the meantime are left out. An
 * endpoint that exists the whole time, and satisfies the filters, is in one of the pages.
 *
 * In one process, all pages come from the same reading of the service's list. Another process reads the list again and goes on
 * after the last endpoint that still exists. It fails if all of those in the token are gone.
 */

/** How many endpoints before its place a continuation token contains. */
const TRAIL = 10;

/** What a continuation token contains. */
const placeSchema = z.strictObject({
  /** When the listing began, by this machine's clock. */
  began: z.number(),
  /** The last endpoints of the page before. */
  shown: z.array(z.string()).min(1),
  /** How many results the limit leaves. The CLI reduces the limit itself from page to page; the protocol keeps it. */
  left: z.number().optional(),
});
type Place = z.output<typeof placeSchema>;

/**
 * A page of the account's cloud endpoints.
 *
 * @throws UserError for a type that is not in this package, an unknown filter, and a token of another list.
 */
export async function list(request: ListRequest, connect: () => EndpointsApi): Promise<ListResponse[]> {
  if (request.getToken() !== TYPES.plugin) throw unknownToken(request.getToken(), [TYPES.plugin]);
  const { props } = received(request.getQuery());
  const query = Object.fromEntries(Object.entries(props).filter(([, value]) => value !== null));
  assertFilters(query);
  if (hasUnknown(query)) return [new ListResponse().setComputed(new ListResponse.Computed())];
  const place = placeOf(request.getContinuationToken());
  const filter = { ...parsed(query), types: ["cloud"] };

  const api = connect();
  const began = place?.began ?? api.http.clock.now();
  const left = Math.min(positive(request.getLimit()) ?? Infinity, place?.left ?? Infinity);
  const most = Math.min(positive(request.getPageSize()) ?? PAGE, left);
  const rest = (found: LiveEndpoint[]) => (place ? endpointsAfter(place, found) : found);
  const found = rest(await firstEndpoints(api, filter, began, (all) => (rest(all)?.length ?? 0) >= most));
  if (!found)
    throw new UserError("the endpoints before this page are gone; list again without a continuation token");

  const page = found.slice(0, most);
  const responses = page.map(({ id, url = "" }) =>
    new ListResponse().setResult(new ListResponse.Result().setId(id).setName(url)),
  );
  // The page after a full one may be empty. To find that out now could take a request for nothing.
  if (page.length === most && left > most) {
    const shown = page.slice(-TRAIL).map(({ id }) => id);
    const token = tokenOf({ began, shown, left: finite(left - most) });
    const continuation = new ListResponse.Continuation().setContinuationToken(token);
    responses.push(new ListResponse().setContinuation(continuation));
  }
  return responses;
}

/** Undefined as long as none of the endpoints that were shown is among those found. */
function endpointsAfter({ shown }: Place, found: LiveEndpoint[]): LiveEndpoint[] | undefined {
  const at = found.findLastIndex(({ id }) => shown.includes(id));
  return at >= 0 ? found.slice(at + 1) : undefined;
}

function assertFilters(query: object): void {
  const known = Object.keys(listFilters);
  const name = Object.keys(query).find((one) => !known.includes(one));
  if (name === undefined) return;
  const remedy = didYouMean(name, known) ?? `the filters are ${known.join(", ")}`;
  throw new UserError(`${oneLine(name, 100)} is no filter of a list of cloud endpoints; ${remedy}`);
}

function parsed(query: object) {
  const { data, error } = z.object(listFilters).safeParse(query);
  if (data) return data;
  const [issue] = error.issues;
  throw new UserError(`the filter ${issue?.path.join(".")} is invalid: ${issue?.message}`);
}

const tokenOf = (place: Place): string => Buffer.from(JSON.stringify(place)).toString("base64url");

function placeOf(token: string): Place | undefined {
  if (token === "") return undefined;
  try {
    return placeSchema.parse(JSON.parse(Buffer.from(token, "base64url").toString()));
  } catch {
    throw new UserError("the continuation token is not of this list; list again without one");
  }
}

const positive = (value: number): number | undefined => (value > 0 ? value : undefined);
const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined);

import { oneLine } from "../../sdk/traffic-policy/data/index";
import {
  ApiError,
  ConnectionError,
  type EndpointsError,
  hasServiceCode,
  ReplyError,
  UserError,
} from "../service/apiErrors";
import type { Endpoint } from "../service/contract";
import { see } from "../service/headings";
import { withoutKeys } from "../service/redaction";
import { ID } from "../service/replySchemas";
import { placeOfKey, type Settings } from "../service/settings";

/*
 * The errors and warnings of operations, except for those of requests (`service/apiErrors.ts`). A message is one line: what
 * happened, the likeliest cause with its remedy, at most one more, and the page with the rest. It names the failure of another
 * request, and does not quote it. `test/docs/messages.test.ts` holds its length.
 */

/** A failed operation of Pulumi, with verb and endpoint: `cannot create https://shop.example.com: …`. */
export class OperationError extends UserError {
  constructor(operation: string, cause: UserError) {
    super(withoutKeys(`cannot ${oneLine(operation, 300)}: ${cause.message}`), { cause });
  }
}

export const wrongType = (id: string, type: string): UserError =>
  new UserError(
    `${id} is of type ${oneLine(type, 100)}; CloudEndpoint manages cloud endpoints only. Read it with getEndpoint, or give the id of a cloud endpoint.`,
  );

export const endpointNotFound = (id: string): UserError =>
  new UserError(`There is no endpoint ${id} in this account. Correct the id; getEndpoints() lists them all.`);

/* An endpoint that is not found. */

const REALLY_GONE =
  "If the endpoint is really gone, run `pulumi state delete --force` with the resource's URN.";

export const goneUnproven = (id: string, why: EndpointsError): UserError =>
  new UserError(
    `The service does not find ${id}, but its list cannot be read (${failureName(why)}), so the endpoint may exist. Check endpoints:baseUrl (or ENDPOINTS_BASE_URL), with its path prefix, and use a key that may list endpoints. ${REALLY_GONE} ${see("An endpoint is not found")}`,
  );

export const stillListed = (id: string, notFound: EndpointsError): UserError =>
  new UserError(
    `${notFound.summary}. But the account's list still contains ${id}, so the endpoint stays in the state. Check whether a proxy or gateway answers in place of the service (endpoints:baseUrl or ENDPOINTS_BASE_URL, HTTPS_PROXY), then run the command again.`,
  );

/** The settings that say which account a run uses. */
type UsedAccount = Pick<Settings, "baseUrl" | "keySource">;

/** This account does not have the endpoint, and is not known to be that of the state. */
export const otherAccount = (id: string, listed: number, settings: UsedAccount): UserError =>
  new UserError(
    `The account of this key at ${settings.baseUrl} does not have ${id}, and may not be this stack's: the state was written with another key or base URL, and this account has ${listed} other endpoints. Use the right key (${placeOfKey(settings)}). ${REALLY_GONE} ${see("A key was rotated")}`,
  );

/** The note of an unchanged resource, once a process. */
export const otherFingerprint = (baseUrl: string): string =>
  `The state was written with another key or base URL than ${baseUrl} has now: \`pulumi refresh --run-program\` tells whether this account has its endpoints. ${see("A key was rotated")}`;

export const updateNotFound = (id: string, notFound: EndpointsError): UserError =>
  new UserError(
    `${notFound.summary}. The endpoint ${id} no longer exists, or this is another service: run \`pulumi refresh\` to find out, then run the command again.`,
  );

/* Who has an endpoint. */

const TAKE_OUT =
  "take its id out of adopt, the option import, or endpoints:adopt (`pulumi config rm endpoints:adopt`)";

export const alreadyManaged = (id: string): UserError =>
  new UserError(
    `${id} belongs to another resource of this stack, or will belong to it. If you renamed that resource, give the new one aliases. Otherwise ${TAKE_OUT}.`,
  );

export const sharedEndpoint = (id: string): UserError =>
  new UserError(
    `${id} belongs to two resources of this stack. Remove one of them from the state: \`pulumi state delete --force\` with its URN (\`npx pulumi-endpoints drift\` lists both). Then run \`pulumi up --refresh\`: a resource that the program still has gets a new endpoint. ${see("Two resources share an endpoint")}`,
  );

export const belongsToAnother = (id: string): string =>
  `${id} belongs to another resource of this stack, so it was not deleted`;

/** A deletion of an endpoint that a resource of this run adopts or imports, and has not taken over. */
export const notDeleted = (id: string): UserError =>
  new UserError(
    `${id} was not deleted, because this run adopts or imports it. If that failed, follow its message. If the endpoint is to be replaced, ${TAKE_OUT}. Then run the command again.`,
  );

/** The warning of a setting that was left behind. */
export const adoptSettingIsLeft = `endpoints:adopt names endpoints that this stack has: run \`pulumi config rm endpoints:adopt\`. ${see("Adopt without an edit of the program")}`;

/** A listed member of a pool that no resource adopts. */
export const adoptNeedsProgram = (id: string, url: string): UserError =>
  new UserError(
    `endpoints:adopt names ${id}, a member of the pool on ${url}, but cannot say which resource it belongs to. Set adopt to this id in the program, or ${TAKE_OUT}.`,
  );

export const adoptNotFound = (id: string): UserError =>
  new UserError(
    `There is no endpoint ${id} to adopt. If this resource had adopted it before, remove adopt: then \`pulumi up\` creates a new endpoint. Otherwise correct the id.`,
  );

export const adoptOtherScheme = (id: string, live: string, wanted: string): UserError =>
  new UserError(
    `${id} serves ${oneLine(live, 300)}, and the scheme of an endpoint cannot change to that of ${wanted}. Adopt an endpoint with the same scheme, or remove adopt to create a new one.`,
  );

/** A change of the scheme with `adopt` of the resource's own endpoint, which the replacement deletes first. */
export const adoptsReplaced = (id: string): UserError =>
  new UserError(`adopt names ${id}, which the new scheme replaces; remove adopt`);

export const policyRemoved = (): UserError =>
  new UserError(
    "trafficPolicy cannot be removed, because an endpoint needs one; change it, or remove the endpoint",
  );

/* What a write shows. */

/** The warning of a write after which fields have other values. */
export const storedOtherwise = (url: string, places: string): string =>
  `${url}: the service has another value than it was sent: ${places}. The state has the service's value, so the next preview shows the change. If the write takes effect late, run \`pulumi up --refresh\`. Otherwise write the service's value into the program. ${see("A change that the service ignores")}`;

/** The warning of a service that does not show a field. */
export const notShown = (url: string, names: readonly string[]): string =>
  `${url}: the service shows no ${names.join(", ")}, neither in its reply nor by id, so it may not have stored what was sent. The state has what was sent`;

/* A create whose outcome is not certain, and a taken URL. */

const BEFORE_NEXT_RUN = "Look for the endpoint with `npx pulumi-endpoints drift` before the next run.";

/** A create that may have had an effect, and must not be sent again. */
export const uncertainCreate = (failure: EndpointsError, url: string): UserError =>
  new UserError(
    `${failure.summary}. The create may have made an endpoint for ${url}, and another attempt could make a second one. ${BEFORE_NEXT_RUN} ${see("The answer to a create was lost")}`,
    { cause: failure },
  );

/** The warning of a create whose answer was lost. */
export const recoveredCreate = (id: string, url: string): string =>
  `${url}: the answer to the create was lost, but ${id} has the same URL and content and appeared at that moment, so this run keeps it. It might be an equal endpoint that another stack created in the same seconds: \`npx pulumi-endpoints drift\` shows that. ${see("The answer to a create was lost")}`;

/** What the provider knows of the endpoint that holds the URL of a create or a move. */
interface HolderFacts {
  /** Whether an update wants the URL, rather than a create. */
  isOfMove: boolean;
  /** Whether the program wants the endpoint's entry for this resource. */
  isOwn: boolean;
  /** Whether this process has met it in an entry. */
  isMet: boolean;
  /** Whether the resource is to be a member of a pool. */
  isPooled: boolean;
}

/** The error of a create or move whose URL another endpoint holds. */
export function urlTaken(
  failure: EndpointsError,
  live: Endpoint,
  url: string,
  facts: HolderFacts,
): UserError {
  const { type, createdAt } = live;
  const what =
    type === "cloud" ? "a cloud endpoint" : `an endpoint of type ${oneLine(type ?? "unknown", 100)}`;
  const age = createdAt ? `, created at ${oneLine(createdAt, 100)}` : "";
  const served = `${url} is served by ${oneLine(live.id, 100)}, ${what}${age}`;
  const ways =
    type === "cloud" ? takenUrlRemedies(live, facts) : "Choose another url, or stop what serves it.";
  return new UserError([failure.summary, served, `${ways} ${see("A URL that is taken")}`].join(". "));
}

/** The two likeliest ways out of a taken URL. */
function takenUrlRemedies(
  { id, poolingEnabled }: Endpoint,
  { isOfMove, isOwn, isMet, isPooled }: HolderFacts,
): string {
  // For a pool, and for an id of another form, only the program's `adopt` can name the endpoint.
  const adopting =
    isPooled || poolingEnabled || !ID.test(id)
      ? "set adopt to this id"
      : `run \`pulumi up --config endpoints:adopt=${id}\``;
  const ifRenamed = 'If you renamed this resource, give it aliases: [{ name: "its old name" }].';
  const ifItLeaves =
    "If another resource of this stack has the URL and leaves it, run the command again, or `pulumi up --target` with its URN first.";
  if (isOwn)
    return `It is this resource's own endpoint, whose deletion Pulumi skipped. To continue with it, ${adopting}.`;
  if (isOfMove)
    return `${ifItLeaves} If the two swap their URLs, run \`pulumi up --replace\` with the URN of one.`;
  if (isMet) return `${ifRenamed} ${ifItLeaves}`;
  return `${ifRenamed} If \`npx pulumi-endpoints drift\` lists it as unmanaged or pending, ${adopting}.`;
}

/** A failed request in the message about another failure. Its own message has remedies, which would be too many here. */
function failureName(error: EndpointsError): string {
  const request = `${error.method} ${error.path}`;
  if (error instanceof ApiError)
    return oneLine(`${request}: status ${error.status} ${hasServiceCode(error) ? error.code : ""}`, 300);
  if (error instanceof ReplyError) return `${request}: a reply that is not the service's`;
  return `${request}: ${error instanceof ConnectionError ? "no answer" : "not sent"}`;
}

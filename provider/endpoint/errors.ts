import { oneLine } from "../data/index";
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
import { placeOfKey, type Settings } from "../service/settings";

/*
 * The errors and warnings of operations, except for those of requests (`service/apiErrors.ts`). A message is one line: what
 * happened, what this process saw, one step or the command that looks further, and the page with the rest. It names the failure of
 * another request, and does not quote it. `test/docs/messages.test.ts` holds its length.
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

export const goneUnproven = (id: string, why: EndpointsError): UserError =>
  new UserError(
    `The service does not find ${id}, but its list cannot be read (${failureName(why)}), so it may exist. Check endpoints:baseUrl with its path prefix, and that the key may list endpoints. ${see("An endpoint is not found")}`,
  );

export const stillListed = (id: string, notFound: EndpointsError): UserError =>
  new UserError(
    `${notFound.summary}. But the account's list still contains ${id}, so the endpoint stays in the state. Check whether a proxy or gateway answers in place of the service (endpoints:baseUrl or ENDPOINTS_BASE_URL, HTTPS_PROXY), then run the command again.`,
  );

export const itemUnreadable = (id: string): UserError =>
  new UserError(
    `The service does not find ${id}, but an item of the account's list cannot be read, and may be this endpoint. ${see("An endpoint is not found")}`,
  );

/** The settings that say which account a run uses. */
type UsedAccount = Pick<Settings, "baseUrl" | "keySource">;

/** This account does not have the endpoint, and is not known to be that of the state. */
export const otherAccount = (id: string, listed: number, settings: UsedAccount): UserError =>
  new UserError(
    `The account of this key at ${settings.baseUrl} does not have ${id}, and may not be this stack's: the state was written with another key or base URL, and it has ${listed} others. Use the right key (${placeOfKey(settings)}). ${see("An endpoint is not found")}`,
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
const IF_RENAMED = "Renamed? Give it `aliases`";

/** The command that tells who has an endpoint. A URL that is secret, or needs quotes in a shell, is left to the reader. */
const whoHas = (idOrUrl: string, stack: string | undefined): string =>
  `\`npx pulumi-endpoints who-has ${/^[\w.:/-]+$/.test(idOrUrl) ? idOrUrl : "URL"}${optionFor(stack)}\``;

const optionFor = (stack: string | undefined): string => (stack === undefined ? "" : ` --stack ${stack}`);

/** The resource that a message is about. */
type Subject = { displayUrl: string; stack: string | undefined };

export const alreadyManaged = (id: string): UserError =>
  new UserError(
    `${id} belongs to another resource of this stack, or will belong to it. ${IF_RENAMED}. In any case, ${TAKE_OUT}. ${see("You renamed a resource")}`,
  );

export const sharedEndpoint = (id: string, stack: string | undefined): UserError =>
  new UserError(
    `${id} belongs to two resources of this stack, which ${whoHas(id, stack)} names. ${see("Two resources share an endpoint")}`,
  );

export const belongsToAnother = (id: string): string =>
  `${id} belongs to another resource of this stack, so it was not deleted`;

/** A deletion of an endpoint that a resource of this run adopts or imports, and has not taken over. */
export const notDeleted = (id: string): UserError =>
  new UserError(
    `${id} was not deleted, because this run adopts or imports it, and has not taken it over. To have it deleted or replaced, ${TAKE_OUT}`,
  );

/** A deletion of an endpoint on whose URL another resource of this run was to be created. */
export const deletionKept = (id: string): UserError =>
  new UserError(
    `${id} was not deleted, because a new resource of this run wants its URL. Renamed? Give the new one \`aliases\`. To have it deleted, take the old one out in a run of its own. ${see("A URL that is taken")}`,
  );

/** The failure of a read whose id comes from the configuration. */
export const listedUnreadable = (failure: EndpointsError): UserError =>
  new UserError(
    `${failure.message} The id is one of endpoints:adopt: correct the setting, or run \`pulumi config rm endpoints:adopt\`.`,
    { cause: failure },
  );

/** The warning of a setting that was left behind. */
export const adoptSettingIsLeft = `endpoints:adopt names endpoints that this stack has: run \`pulumi config rm endpoints:adopt\`, or take it out of Pulumi.yaml. ${see("Adopt without an edit of the program")}`;

/** The warning of an `adopt` that does nothing. */
export const adoptIgnored = (id: string, adopt: string): string =>
  `adopt names ${adopt}, but this resource already has ${id}, so it adopts nothing. Remove adopt, or give it to a resource that \`pulumi preview\` creates`;

/** A listed member of a pool that no resource adopts. */
export const adoptNeedsProgram = (id: string, url: string): UserError =>
  new UserError(
    `endpoints:adopt names ${id}, a member of the pool on ${url}, and cannot say which resource it belongs to: take it out (\`pulumi config rm endpoints:adopt\`). ${see("Adopt members of a pool")}`,
  );

export const adoptNotFound = (id: string): UserError =>
  new UserError(
    `There is no endpoint ${id} to adopt in this account. Correct the id, or remove adopt to create a new endpoint.`,
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
  `${url}: the service stored another value than this run sent: ${places}. The state has the service's value, so the next preview shows the change; \`pulumi preview --refresh\` shows whether the write took effect late. ${see("A change that the service ignores")}`;

/** The warning of a service that does not show a field. */
export const notShown = (url: string, names: readonly string[]): string =>
  `${url}: the service shows no ${names.join(", ")}, neither in its reply nor by id, so it may not have stored what was sent. The state has what was sent`;

/* A create whose outcome is not certain, and a taken URL. */

/** A create that may have had an effect, and must not be sent again. */
export const uncertainCreate = (failure: EndpointsError, { displayUrl: url, stack }: Subject): UserError =>
  new UserError(
    `${failure.summary}. The create may have made an endpoint for ${url}, and another attempt could make a second one. Look with ${whoHas(url, stack)} before the next run. ${see("The answer to a create was lost")}`,
    { cause: failure },
  );

/** The warning of a create whose answer was lost. */
export const recoveredCreate = (id: string, { displayUrl: url, stack }: Subject): string =>
  `${url}: the answer to the create was lost, but ${id} has the same URL and content and appeared at that moment, so this run keeps it. It might be another stack's: ${whoHas(id, stack)} names who has it. ${see("The answer to a create was lost")}`;

/** The error of a create or move whose URL another endpoint holds, with what this process knows of that endpoint's resource. */
export function urlTaken(
  { summary }: EndpointsError,
  { id, type, createdAt }: Endpoint,
  { displayUrl: url, stack }: Subject,
  { isCreate, isWanted, isOwn }: { isCreate: boolean; isWanted: boolean; isOwn: boolean },
): UserError {
  const isCloud = type === "cloud";
  const what = isCloud ? "a cloud endpoint" : `an endpoint of type ${oneLine(type ?? "unknown", 100)}`;
  const served = `${url} is served by ${id}, ${what}${createdAt ? `, created at ${oneLine(createdAt, 100)}` : ""}`;
  let step = `${whoHas(id, stack)} names who has it`;
  if (isWanted) step = "Another resource of this stack has it: run the command again, once";
  if (isOwn)
    step = `It is the resource's own, not deleted by Pulumi. Keep it: \`pulumi up --config endpoints:adopt=${id}${optionFor(stack)}\``;
  else if (isCreate && isCloud) step += `. ${IF_RENAMED}`;
  return new UserError(`${summary}. ${served}. ${step}. ${see("A URL that is taken")}`);
}

/** A failed request in the message about another failure. Its own message has remedies, which would be too many here. */
function failureName(error: EndpointsError): string {
  const request = `${error.method} ${error.path}`;
  if (error instanceof ApiError)
    return oneLine(`${request}: status ${error.status} ${hasServiceCode(error) ? error.code : ""}`, 300);
  if (error instanceof ReplyError) return `${request}: a reply that is not the service's`;
  return `${request}: ${error instanceof ConnectionError ? "no answer" : "not sent"}`;
}

import { type JsonObject, oneLine } from "../../sdk/traffic-policy/index";
import {
  ApiError,
  ConnectionError,
  type EndpointsError,
  isOfService,
  ReplyError,
  UserError,
} from "../service/apiErrors";
import type { LiveEndpoint } from "../service/contract";
import { ID } from "../service/replySchemas";

/*
 * The errors and warnings of operations, except for those of requests (`service/apiErrors.ts`). A message is one line: what
 * happened, then at most three causes, each with its remedy. It names the failure of another request, and does not quote it.
 */

/**
 * A write that the service accepted, and made at most in part. Pulumi stores the live properties with this error, and its next `up`
 * updates the resource.
 */
export class PartialWriteError extends UserError {
  constructor(
    reason: string,
    readonly id: string,
    readonly properties: JsonObject,
  ) {
    super(reason);
  }
}

/** A failed operation of Pulumi, with verb and endpoint: `cannot create https://shop.example.com: …`. */
export class OperationError extends UserError {
  /** After a partial write, what Pulumi stores: its host for dynamic providers looks for these names. */
  readonly id: string | undefined;
  readonly properties: JsonObject | undefined;
  readonly reasons: string[] | undefined;

  constructor(operation: string, cause: UserError) {
    super(`cannot ${oneLine(operation, 300)}: ${cause.message}`, { cause });
    if (!(cause instanceof PartialWriteError)) return;
    this.id = cause.id;
    this.properties = cause.properties;
    this.reasons = [this.message];
  }
}

export const wrongType = (id: string, type: string): UserError =>
  new UserError(
    `${id} is of type ${oneLine(type, 100)}; CloudEndpoint manages cloud endpoints only. Read it with getEndpoint, or give the id of a cloud endpoint.`,
  );

export const goneUnproven = (id: string, why: EndpointsError): UserError =>
  new UserError(
    `The service does not find ${id}, but its list, which would prove that the endpoint is gone, cannot be read (${failureName(why)}). Check endpoints:baseUrl (or ENDPOINTS_BASE_URL), with its path prefix, and use a key with the permission to list endpoints. If the endpoint is gone, run \`pulumi state delete --force\` with the resource's URN.`,
  );

export const stillListed = (id: string, notFound: EndpointsError): UserError =>
  new UserError(
    `${notFound.summary}, but the account's list still contains ${id}, so it stays in the state. Check whether a proxy or gateway answers in place of the service (endpoints:baseUrl or ENDPOINTS_BASE_URL, HTTPS_PROXY), then run the command again.`,
  );

/** This account does not have an endpoint, and nothing shows that it is the account of the state. */
export class OtherAccountError extends UserError {
  constructor(
    readonly id: string,
    listed: number,
    baseUrl: string,
    fingerprint: string,
  ) {
    super(
      `The account of this key at ${baseUrl} does not have ${id}, and may not be the account of this stack: the state was written with another key or base URL, and none of the ${listed} endpoints listed there is known so far to be this stack's. Use a key of the right account (endpoints:apiKey or ENDPOINTS_API_KEY). If this account is right, or replaces the other one, run the command once with ENDPOINTS_ACCEPT_ACCOUNT=${fingerprint}: what this account does not have then leaves the state.`,
    );
  }
}

/** The same about another endpoint of the run. */
export const otherAccountToo = (id: string, first: OtherAccountError): UserError =>
  new UserError(`This account does not have ${id} either. See the message about ${first.id}.`);

/** The warning of an endpoint that counts as gone by consent. */
export const droppedByConsent = (id: string, baseUrl: string): string =>
  `${id} counts as gone, because ENDPOINTS_ACCEPT_ACCOUNT accepts the account of this key at ${baseUrl}, which does not have it. If it still exists in the account that the state was written with, nothing manages it there now`;

/** The warning of an unchanged resource whose endpoint this account does not have. */
export const notOfThisAccount = (id: string, baseUrl: string): string =>
  `The account of this key at ${baseUrl} does not have ${id}: the state was written with another key or base URL, and this run changes nothing. If the resource is to move to this account, run \`pulumi state delete --force\` with its URN, then \`pulumi up\`, which creates it here; the old endpoint stays in the other account. If not, use a key of the right account (endpoints:apiKey or ENDPOINTS_API_KEY). If the endpoint was deleted, run \`pulumi refresh\`.`;

/** The warning of an id in \`ENDPOINTS_ADOPT\` that nothing can adopt. */
export const notAdoptable = (id: string, type: string | undefined): string =>
  `ENDPOINTS_ADOPT names ${id}, which ${type === undefined ? "does not exist in this account" : `is of type ${oneLine(type, 100)}`}, so nothing adopts it`;

export const updateNotFound = (id: string, notFound: EndpointsError): UserError =>
  new UserError(
    `${notFound.summary}. The endpoint ${id} no longer exists, or this is another service: run \`pulumi refresh\` to find out, then run the command again.`,
  );

export const alreadyManaged = (id: string): UserError =>
  new UserError(
    `${id} already belongs to another resource of this stack, and an endpoint can only belong to one. Remove what asks for it (adopt, import, or its id in ENDPOINTS_ADOPT), or give the id of another endpoint. Resources that ask for no endpoint need a url each.`,
  );

export const sharedEndpoint = (id: string): UserError =>
  new UserError(
    `${id} belongs to two resources of this stack, and an endpoint can only belong to one. Remove one of them from the state: \`pulumi state delete --force\` with its URN (\`npx pulumi-endpoints drift\` lists both). Then run \`pulumi up --refresh\`, which creates an endpoint for it if the program still has it.`,
  );

export const endpointNotFound = (id: string): UserError =>
  new UserError(`There is no endpoint ${id} in this account. Correct the id; getEndpoints() lists them all.`);

/** The warning of a run that adopts. Each provider has a process, which does not see what another one adopts. */
export const adoptsBesideProviders =
  "adopt: If another entry of this stack has such an endpoint with another provider, and the program no longer has that entry, this run deletes the endpoint. Give the resource aliases instead, or first remove the old entry: `pulumi state delete --force` with its URN";

export const adoptNotFound = (id: string): UserError =>
  new UserError(
    `There is no endpoint ${id} to adopt. If this resource had adopted it before, remove adopt: then a new one is created. Otherwise correct the id.`,
  );

export const adoptAmbiguous = (url: string, found: readonly { id: string }[]): UserError =>
  new UserError(
    `Several cloud endpoints can share ${url}, which has ${oneLine(found.map(({ id }) => id).join(", "))}. Set adopt to the id of one of them.`,
  );

export const adoptOtherScheme = (id: string, live: string, wanted: string): UserError =>
  new UserError(
    `${id} serves ${oneLine(live, 300)}, and the scheme of an endpoint cannot change to that of ${wanted}. Adopt an endpoint with the same scheme, or remove adopt to create a new one.`,
  );

export const belongsToAnother = (id: string): string =>
  `${id} belongs to another resource of this stack, so it was not deleted`;

/** The warning of a deletion that only drops the entry. */
export const keptByConsent = (id: string): string =>
  `ENDPOINTS_ADOPT names ${id}, so this run does not delete it, and only drops this entry. If no resource has taken it over, \`npx pulumi-endpoints drift\` lists it`;

export const takeOverFailed = (id: string): UserError =>
  new UserError(
    `${id} was not deleted: another resource of this stack adopts or imports it, and could not take it over in this run. Follow the message of that resource, then run the command again.`,
  );

/** A failed request by its name: its own text, with remedies of its own, would be a second message in this one. */
function failureName(error: EndpointsError): string {
  const request = `${error.method} ${error.path}`;
  if (error instanceof ApiError)
    return oneLine(`${request}: status ${error.status} ${isOfService(error) ? error.code : ""}`, 300);
  if (error instanceof ReplyError) return `${request}: a reply that is not the service's`;
  return `${request}: ${error instanceof ConnectionError ? "no answer" : "not sent"}`;
}

/** The reason of a write whose old values still live. */
export const changeIgnored = (id: string, what: string, unread: EndpointsError | undefined): string =>
  `the service accepted the change, but old values of ${id} still live: ${what}${unread ? `; a read failed (${failureName(unread)})` : ""}. It ignores the change, or stores both alike. Write the live value; or run \`pulumi refresh\`, then use ignoreChanges; or replace the endpoint: \`pulumi up --replace\` with its URN, without protect in that run (in other languages with deleteBeforeReplace). See "A change that the service ignores" in docs/troubleshooting.md of pulumi-endpoints.`;

/** The warning of a write whose values live in another form. */
export const storedOtherwise = (url: string, what: string): string =>
  `${url}: the service stores another value than it was sent: ${what}. Each preview shows this change until the program has the value as the service stores it`;

/** The warning of a service that does not show a field. */
export const notShown = (url: string, names: readonly string[]): string =>
  `${url}: the service shows no ${names.join(", ")}, neither in its reply nor by id, so it may not have stored what was sent. The state has what was sent, and this run does not look for it again`;

/** The warning of a write that nothing proves. */
export const unverified = (url: string, names: readonly string[], why: EndpointsError): string =>
  `${url}: the service's reply has no ${names.join(", ")}, and reads by id failed (${failureName(why)}), so it may not have stored what was sent. Run \`pulumi refresh\` to compare`;

export const urlLookup = (refusal: EndpointsError, why: EndpointsError, url: string): UserError =>
  new UserError(
    `${refusal.summary}. The provider could not find out whether another endpoint has ${url} (${failureName(why)}). Run the command again. If another endpoint has the URL, choose another url.`,
  );

/** The line to paste, with the ids of endpoints that one run adopts. It is never cut, and has no text that is no id. */
function adoptCommand(ids: readonly string[]): string {
  const usable = ids.filter((id) => ID.test(id));
  return `ENDPOINTS_ADOPT=${usable.join(",") || "ep_…"} pulumi up`;
}

const lookFor = (url: string) =>
  `Look for an endpoint on ${url} that is in no stack (\`npx pulumi-endpoints drift\`). If there is one, run the command again with its id: \`ENDPOINTS_ADOPT=ep_… pulumi up\`. If there is none, run the command again.`;

export const createDoubtful = (lost: EndpointsError, url: string, ids: string[]): UserError =>
  new UserError(
    ids.length > 0
      ? `${lost.summary}. It may have created one of these endpoints for ${url}, which belong to no resource of this run: ${oneLine(ids.join(", "))}. Find out which of them is in no stack (\`npx pulumi-endpoints drift\`), and run the command again with its id: \`${adoptCommand(ids.length === 1 ? ids : [])}\`. If all of them are others', run the command again as it is.`
      : `${lost.summary}. The list does not show an endpoint that it created yet, but another try could create a second one. ${lookFor(url)}`,
  );

export const createUnsettled = (lost: EndpointsError, why: EndpointsError, url: string): UserError =>
  new UserError(
    `${lost.summary}. The provider could not find out whether the endpoint exists (${failureName(why)}). Check that endpoints:baseUrl (or ENDPOINTS_BASE_URL) names the service's API. ${lookFor(url)}`,
  );

/** A create that a gateway may have refused after it took effect. */
export const refusedWithoutCode = (refusal: EndpointsError, url: string): UserError =>
  new UserError(
    `${refusal.message} The reply has no code of the service; look for an endpoint on ${url} before the next run.`,
    { cause: refusal },
  );

/** The warning of a create whose endpoint was found. */
export const continuesWith = (id: string, answer: string, url: string): string =>
  `${url}: after ${answer}, this run continues with ${id}, which it has probably created. Another run may have, with the same content within two seconds: check that no other stack has this id`;

/** The warning of a create in a pool that already had an equal member. */
export const equalMember = ({ id, createdAt }: LiveEndpoint, url: string): string =>
  `${url}: the pool has an equal member, ${id}${ageOf(createdAt)}, which no resource that this run has met so far has. If a killed run left it behind, it is there beside the new one: \`npx pulumi-endpoints drift\` lists it if no state has it`;

/** What the provider knows of the endpoint that holds the URL of a create or a move. */
interface Standing {
  /** Whether an update wants the URL, rather than a create. */
  isOfMove: boolean;
  /** Whether a resource of the program keeps the endpoint on its URL. */
  stays: boolean;
  /** Whether this process has met it in an entry. */
  isOurs: boolean;
  /** All endpoints so far that kept their URLs from creates. */
  adoptable: readonly string[];
}

const ageOf = (createdAt: unknown) => (createdAt ? `, created at ${oneLine(String(createdAt), 100)}` : "");

/** The error of a create or move whose URL another endpoint holds. */
export function urlTaken(
  refusal: EndpointsError,
  { id, type, createdAt }: LiveEndpoint,
  url: string,
  standing: Standing,
): UserError {
  const what =
    type === "cloud" ? "a cloud endpoint" : `an endpoint of type ${oneLine(type ?? "unknown", 100)}`;
  const served = `${url} is served by ${id}, ${what}${ageOf(createdAt)}`;
  const ways = type === "cloud" ? waysOut(id, standing) : [AGENTS];
  return new UserError(`${[refusal.summary, served, ...ways].join(". ")}.`);
}

const AGENTS = "Choose another url, or stop the agent or edge that serves it";

/** The likely causes of a taken URL with their ways out, likeliest first, at most three. */
function waysOut(id: string, { isOfMove, stays, isOurs, adoptable }: Standing): string[] {
  const skipped = `If it is this resource's own endpoint, whose deletion Pulumi skipped (retainOnDelete, deletedWith), \`${adoptCommand(adoptable)}\` continues with it`;
  const renamed = 'If you renamed or moved this resource, give it aliases: [{ name: "its old name" }]';
  const ofStack =
    "If another resource of this stack has it (`pulumi stack --show-ids --show-urns`), run `pulumi up --target` with that resource's URN first, or `pulumi up --replace` if the two swap their URLs; take protect and retainOnDelete out before. A replacement frees its URL only with the option deleteBeforeReplace";
  const keeps =
    "It belongs to another resource of this stack, which keeps this URL: give each its own url, or set poolingEnabled on both";
  const foreign = "If it is somebody else's, choose another url";
  if (isOfMove) return stays ? [keeps] : [ofStack, foreign];
  if (stays) return [skipped, keeps.replace("It belongs", "If it belongs")];
  if (isOurs) return [skipped, ofStack];
  const left = `If no state has it (\`npx pulumi-endpoints drift\`), because a killed run left it behind or Pulumi skipped its deletion (retainOnDelete, deletedWith), \`${adoptCommand(adoptable)}\` takes it over`;
  const elsewhere = `If another stack or backend has it (PULUMI_BACKEND_URL), or somebody else, choose another url: two states would have it, and deleting it in one would delete it for both. To move it here, remove it there (\`pulumi state delete --force\` with its URN), and set adopt: "${oneLine(id, 100)}"`;
  return [renamed, ofStack, `${left}. ${elsewhere}`];
}

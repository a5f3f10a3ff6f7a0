import { type JsonObject, oneLine } from "../../sdk/traffic-policy/data/index";
import {
  ApiError,
  ConnectionError,
  type EndpointsError,
  hasServiceCode,
  ReplyError,
  UserError,
} from "../service/apiErrors";
import type { Endpoint } from "../service/contract";
import { see } from "../service/pages";
import { ID } from "../service/replySchemas";
import { placeOfKey, type Settings } from "../service/settings";
import { withoutAccountKey } from "./secretSearch";

/*
 * The errors and warnings of operations, except for those of requests (`service/apiErrors.ts`). A message is one line: what
 * happened, the likeliest cause with its remedy, at most one more, and the page with the rest. It names the failure of another
 * request, and does not quote it. `test/docs/messages.test.ts` holds its length.
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

  constructor(operation: string, cause: UserError, accountKey?: string) {
    super(withoutAccountKey(`cannot ${oneLine(operation, 300)}: ${cause.message}`, accountKey), { cause });
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
    `The service does not find ${id}, but its list cannot be read (${failureName(why)}), so the endpoint may exist. Check endpoints:baseUrl (or ENDPOINTS_BASE_URL), with its path prefix, and use a key that may list endpoints. If the endpoint is really gone, run \`pulumi state delete --force\` with the resource's URN. ${see("An endpoint is not found")}`,
  );

export const stillListed = (id: string, notFound: EndpointsError): UserError =>
  new UserError(
    `${notFound.summary}. But the account's list still contains ${id}, so the endpoint stays in the state. Check whether a proxy or gateway answers in place of the service (endpoints:baseUrl or ENDPOINTS_BASE_URL, HTTPS_PROXY), then run the command again.`,
  );

/** The settings that say which account a run uses. */
type UsedAccount = Pick<Settings, "baseUrl" | "keySource">;

/** This account does not have an endpoint, and nothing shows that it is the account of the state. */
export class OtherAccountError extends UserError {
  constructor(
    readonly id: string,
    listed: number,
    settings: UsedAccount,
  ) {
    super(
      `The account of this key at ${settings.baseUrl} does not have ${id}, and may not be this stack's: the state was written with another key or base URL, and none of the ${listed} endpoints there is known to be this stack's. Use the right key (${placeOfKey(settings)}). If the endpoint is really gone, run \`pulumi state delete --force\` with the resource's URN. ${see("A key was rotated")}`,
    );
  }
}

/** The same about another endpoint of the run. */
export const otherAccountToo = (id: string, first: OtherAccountError): UserError =>
  new UserError(`This account does not have ${id} either. See the message about ${first.id}.`);

/** The warning of an unchanged resource whose endpoint this account does not have. */
export const notOfThisAccount = (id: string, settings: UsedAccount): string =>
  `The account of this key at ${settings.baseUrl} does not have ${id}: the state was written with another key or base URL. This run changes nothing. Use the right key (${placeOfKey(settings)}). To move the resource to this account, run \`pulumi state delete --force\` with its URN, then \`pulumi up\`; the old endpoint stays in the other account. ${see("A key was rotated")}`;

/** The warning of an id in \`ENDPOINTS_ADOPT\` that nothing can adopt. */
export const notAdoptable = (id: string, type: string | undefined): string =>
  `ENDPOINTS_ADOPT names ${id}, which ${type === undefined ? "does not exist in this account" : `is of type ${oneLine(type, 100)}`}, so nothing adopts it`;

export const updateNotFound = (id: string, notFound: EndpointsError): UserError =>
  new UserError(
    `${notFound.summary}. The endpoint ${id} no longer exists, or this is another service: run \`pulumi refresh\` to find out, then run the command again.`,
  );

/** The error of a run with the variable of another stack. */
export const consentForAnother = (
  consented: string,
  stack: string | undefined,
  { isFirst }: { isFirst: boolean },
): UserError => {
  if (!isFirst)
    return new UserError("ENDPOINTS_ADOPT is not for this stack. See the first message about it.");
  const found =
    stack === undefined
      ? "the program's copy of pulumi-endpoints does not say which stack this is. Install the same version for the program and its provider, or remove the variable."
      : `this is ${stack}. Remove the variable.`;
  return new UserError(`ENDPOINTS_ADOPT is for ${consented}, and ${found}`);
};

/** The warning of a variable that was left behind, or that a replacement still needs. */
export const consentAlreadyUsed = (id: string): string =>
  `${id}, and perhaps more of what ENDPOINTS_ADOPT names, is already in this stack: take it out of the variable after this run. ${see("Adopt for one run, without an edit")}`;

/** The announcement of a create in a pool that takes over one of several equal members. */
export const adoptsOneOf = (url: string, found: readonly { id: string }[]): string =>
  `${url}: adopts one of ${oneLine(found.map(({ id }) => id).join(", "), 300)} (ENDPOINTS_ADOPT), unless other resources of this pool take them all`;

/** The warning of a create in a pool. */
export const consentDiffers = (url: string, differences: readonly string[]): string =>
  `${url}: no endpoint in ENDPOINTS_ADOPT equals this member of the pool, so a new one is created. The differences: ${oneLine(differences.join("; "), 300)}. If one of the endpoints is this resource's, set adopt to its id`;

export const alreadyManaged = (id: string): UserError =>
  new UserError(
    `${id} already belongs to another resource of this stack, and an endpoint can only belong to one. If you renamed that resource, give the new resource aliases. Otherwise remove what asks for the endpoint: adopt, the option import, or its id in ENDPOINTS_ADOPT.`,
  );

export const sharedEndpoint = (id: string): UserError =>
  new UserError(
    `${id} belongs to two resources of this stack, but an endpoint can only belong to one. Remove one of the resources from the state: \`pulumi state delete --force\` with its URN (\`npx pulumi-endpoints drift\` lists both). Then run \`pulumi up --refresh\`: a resource that the program still has gets a new endpoint. ${see("Two resources share an endpoint")}`,
  );

export const endpointNotFound = (id: string): UserError =>
  new UserError(`There is no endpoint ${id} in this account. Correct the id; getEndpoints() lists them all.`);

export const adoptNotFound = (id: string): UserError =>
  new UserError(
    `There is no endpoint ${id} to adopt. If this resource had adopted it before, remove adopt: then \`pulumi up\` creates a new endpoint. Otherwise correct the id.`,
  );

export const adoptOtherScheme = (id: string, live: string, wanted: string): UserError =>
  new UserError(
    `${id} serves ${oneLine(live, 300)}, and the scheme of an endpoint cannot change to that of ${wanted}. Adopt an endpoint with the same scheme, or remove adopt to create a new one.`,
  );

export const belongsToAnother = (id: string): string =>
  `${id} belongs to another resource of this stack, so it was not deleted`;

/** The warning of deletions that only drop the entry. All deletions of a run have the same text. */
export const keptByConsent = (all: readonly string[]): string =>
  `of a deleted resource whose endpoint is in ENDPOINTS_ADOPT (${all.join(", ")}), this run only drops the entry, and the endpoint stays. Afterwards, \`npx pulumi-endpoints drift\` names those that no stack has`;

export const adoptionFailed = (id: string): UserError =>
  new UserError(
    `${id} was not deleted: another resource of this stack adopts or imports it, and has not taken it over. If that resource has an error, follow its message. Then run the command again.`,
  );

/** A failed request in the message about another failure. Its own message has remedies, which would be too many here. */
function failureName(error: EndpointsError): string {
  const request = `${error.method} ${error.path}`;
  if (error instanceof ApiError)
    return oneLine(`${request}: status ${error.status} ${hasServiceCode(error) ? error.code : ""}`, 300);
  if (error instanceof ReplyError) return `${request}: a reply that is not the service's`;
  return `${request}: ${error instanceof ConnectionError ? "no answer" : "not sent"}`;
}

/** The reason of a write that left old values. */
export const changeIgnored = (id: string, what: string, readError: EndpointsError | undefined): string =>
  `the service accepted the change, but old values of ${id} still live: ${what}${readError ? `; a read failed (${failureName(readError)})` : ""}. It ignores this change, or stores both alike. Write the live value into the program; or replace the endpoint: \`pulumi up --replace\` with its URN, without protect in that run (in other languages with deleteBeforeReplace). ${see("A change that the service ignores")}`;

/** The warning of a write whose values the service stores in another form. */
export const storedOtherwise = (url: string, what: string): string =>
  `${url}: the service stores another value than it was sent: ${what}. Write the stored value into the program: until then, each preview shows this change`;

/** The warning of a service that does not show a field. */
export const notShown = (url: string, names: readonly string[]): string =>
  `${url}: the service shows no ${names.join(", ")}, neither in its reply nor by id, so it may not have stored what was sent. The state has what was sent, and this run does not look for it again`;

/** The warning of a write whose fields neither the reply nor a read shows. */
export const unverified = (url: string, names: readonly string[], why: EndpointsError): string =>
  `${url}: the service's reply has no ${names.join(", ")}, and reads by id failed (${failureName(why)}), so it may not have stored what was sent. Run \`pulumi refresh\` to compare`;

export const urlLookup = (refusal: EndpointsError, why: EndpointsError, url: string): UserError =>
  new UserError(
    `${refusal.summary}. The provider could not find out whether another endpoint has ${url} (${failureName(why)}). Run the command again. If another endpoint has the URL, choose another url.`,
  );

/** The command to paste, with the ids of endpoints that one run adopts. It is never shortened, and leaves out invalid ids. */
function adoptCommand(stack: string | undefined, ids: readonly string[]): string {
  const usable = ids.filter((id) => ID.test(id));
  return `ENDPOINTS_ADOPT=${stack ?? "project/stack"}:${usable.join(",") || "ep_…"} pulumi up --refresh`;
}

const lookFor = (url: string, stack: string | undefined) =>
  `Look for an endpoint on ${url} that is in no stack (\`npx pulumi-endpoints drift\`). If there is such an endpoint, run \`${adoptCommand(stack, [])}\` with its id; otherwise run the command again. ${see("The answer to a create was lost")}`;

export const createAmbiguous = (
  lost: EndpointsError,
  url: string,
  stack: string | undefined,
  ids: string[],
): UserError =>
  new UserError(
    ids.length > 0
      ? `${lost.summary}. The create may have created one of these endpoints for ${url}: ${oneLine(ids.join(", "))}. If \`npx pulumi-endpoints drift\` shows that no stack has one of these endpoints, run \`${adoptCommand(stack, ids.length === 1 ? ids : [])}\` with its id. If stacks have all of them, run the command again. ${see("The answer to a create was lost")}`
      : `${lost.summary}. The list shows no endpoint of this create yet, but another try could create a second one. ${lookFor(url, stack)}`,
  );

export const createUnverified = (
  lost: EndpointsError,
  why: EndpointsError,
  url: string,
  stack: string | undefined,
): UserError =>
  new UserError(
    `${lost.summary}. The provider could not find out whether the endpoint exists (${failureName(why)}). Check that endpoints:baseUrl (or ENDPOINTS_BASE_URL) names the service's API. ${lookFor(url, stack)}`,
  );

/** A create that a gateway may have refused after it took effect. */
export const refusedWithoutCode = (refusal: EndpointsError, url: string): UserError =>
  new UserError(
    `${refusal.summary}. The reply has no code of the service, so the create may have taken effect. Look for an endpoint on ${url} before the next run (\`npx pulumi-endpoints drift\`). ${see("The answer to a create was lost")}`,
    { cause: refusal },
  );

/**
 * The warning of a create whose endpoint was found.
 *
 * @param refusal The status of a refusal by a gateway; undefined if the answer was lost.
 */
export const recoveredCreate = (id: string, refusal: number | undefined, url: string): string =>
  `${url}: the ${refusal === undefined ? "answer to the create was lost" : `create was refused with status ${refusal}`}. But ${id} has the same URL and content and appeared at that moment, so this run keeps it. Check with \`npx pulumi-endpoints drift\` that no other stack has it. ${see("The answer to a create was lost")}`;

/** The warning of a create in a pool that already has an equal member. */
export const equalMemberExists = ({ id, createdAt }: Endpoint, url: string): string =>
  `${url}: the pool already has an equal endpoint, ${id}${ageOf(createdAt)}, that this run has not met in the state so far. If a killed run created it, or the state was lost, a new endpoint is one too many: \`npx pulumi-endpoints drift\` shows whether a stack has it. ${see("A run was killed")}`;

/** The warning of a replacement whose old endpoint the engine has not deleted yet. */
export const replacedStays = (id: string, url: string): string =>
  `${url}: the replaced endpoint ${id} is still live. Pulumi deletes it at the end of this run, or never (retainOnDelete, deletedWith). Afterwards, \`npx pulumi-endpoints drift\` names it if it stays`;

/** What the provider knows of the endpoint that holds the URL of a create or a move. */
interface HolderFacts {
  /** Project and stack. */
  stack: string | undefined;
  /** Whether an update wants the URL, rather than a create. */
  isOfMove: boolean;
  /** Whether a resource of the program keeps the endpoint on its URL. */
  keepsItsUrl: boolean;
  /** Whether the program wants the endpoint's entry for this resource. */
  isOwnEndpoint: boolean;
  /** Whether this process has met it in an entry. */
  wasMetInState: boolean;
  /** The ids to put into the command that adopts: of all endpoints so far that held the URLs of creates. */
  adoptable: readonly string[];
}

const ageOf = (createdAt: unknown) => (createdAt ? `, created at ${oneLine(String(createdAt), 100)}` : "");

/** The error of a create or move whose URL another endpoint holds. */
export function urlTaken(
  refusal: EndpointsError,
  { id, type, createdAt }: Endpoint,
  url: string,
  facts: HolderFacts,
): UserError {
  const what =
    type === "cloud" ? "a cloud endpoint" : `an endpoint of type ${oneLine(type ?? "unknown", 100)}`;
  const served = `${url} is served by ${id}, ${what}${ageOf(createdAt)}`;
  const ways = type === "cloud" ? takenUrlRemedies(id, facts) : AGENT_REMEDY;
  return new UserError([refusal.summary, served, ways].join(". "));
}

const AGENT_REMEDY = "Choose another url, or stop the agent or edge that serves it.";

/** The likeliest causes of a taken URL with their ways out. */
function takenUrlRemedies(
  id: string,
  { stack, isOfMove, keepsItsUrl, isOwnEndpoint, wasMetInState, adoptable }: HolderFacts,
): string {
  const command = `\`${adoptCommand(stack, adoptable)}\``;
  const page = see("A URL that is taken");
  if (isOwnEndpoint)
    return `It is this resource's own endpoint, whose deletion Pulumi skipped (retainOnDelete, deletedWith). ${command} continues with it. ${see("Replace an endpoint that has retainOnDelete")}`;
  if (keepsItsUrl)
    return "It belongs to another resource of this stack, which keeps this URL: give each its own url, or set poolingEnabled on both.";
  const ifRenamed = 'If you renamed this resource, give it aliases: [{ name: "its old name" }].';
  const ifItLeaves =
    "If another resource of this stack has the URL and leaves it, run `pulumi up --target` with its URN first.";
  if (isOfMove)
    return `${ifItLeaves} If the two swap their URLs, run \`pulumi up --replace\` with one of them (protect may go in that run; retainOnDelete goes in an \`up\` before). Otherwise choose another url. ${page}`;
  if (wasMetInState)
    return `${ifRenamed} ${ifItLeaves} A replacement frees its URL only with the option deleteBeforeReplace. Otherwise choose another url. ${page}`;
  return `${ifRenamed} If \`npx pulumi-endpoints drift\` shows that no stack has ${oneLine(id, 100)}, set adopt to this id, or run ${command}. Otherwise choose another url. ${page}`;
}

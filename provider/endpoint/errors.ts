import { ApiError, codeNumber, type EndpointsError, UserError } from "../api/apiErrors";
import type { LiveEndpoint, Owner } from "../api/contract";
import { isSameOwner, isSameStack, ownerText, partsOf } from "../api/mark";
import { oneLine } from "../api/text";
import { WEBHOOK_TYPE } from "../api/typeTokens";

/*
 * The provider's errors, except for those of requests (`api/apiErrors.ts`). Each message is one line with the mistake and the
 * next step. An error with a `cause` adds context to it.
 */

/** A failed operation of Pulumi. */
export class OperationError extends UserError {
  constructor(
    /** Verb and endpoint: `create https://shop.example.com`. */
    operation: string,
    override readonly cause: UserError,
  ) {
    super(`cannot ${oneLine(operation, 300)}: ${cause.message}`, { cause });
  }
}

export const wrongType = (id: string, type: string): UserError =>
  new UserError(
    `${id} is of type ${oneLine(type, 100)}; CloudEndpoint manages cloud endpoints only. Read it with getEndpoint, or give the id of a cloud endpoint.`,
  );

export const reservedKey = (id: string, problem: string): UserError =>
  new UserError(`${id} cannot be managed: ${problem}.`);

/** @param known The tokens that would have been right. */
export const unknownToken = (token: string, known: string[]): UserError =>
  new UserError(
    token === WEBHOOK_TYPE
      ? `${token} is a component: construct it in a program, and run \`pulumi up\`.`
      : `There is no ${oneLine(token, 200)} in this package; it has ${known.join(" and ")}.`,
  );

/** A 404 that does not prove that an endpoint is gone. The cause is mostly the same for all endpoints of a run. */
export class UnprovenError extends UserError {}

/** The message for the further endpoints of a run. */
export const unprovenToo = (id: string, first: string): UserError =>
  new UserError(`Nothing proves that ${id} is gone, either: see the message about ${first}.`);

export const goneUnproven = (id: string, notFound: EndpointsError, why: EndpointsError): UserError =>
  new UnprovenError(
    `The service reports that ${id} does not exist, but its list, which would prove that, cannot be read (${oneLine(why.summary, 1000)}). Check endpoints:baseUrl (or ENDPOINTS_BASE_URL), with its path prefix, and use a key with the permission to list endpoints. If the endpoint no longer exists, remove the resource with \`pulumi state delete\`.`,
    { cause: notFound },
  );

export const stillListed = (id: string, notFound: EndpointsError): UserError =>
  new UserError(
    `${notFound.summary}, but the account's list still contains ${id}, so it stays in the state. Check whether a proxy or gateway answers in place of the service (endpoints:baseUrl or ENDPOINTS_BASE_URL, HTTPS_PROXY), then run the command again.`,
    { cause: notFound },
  );

export const otherAccount = (id: string, listed: number, baseUrl: string): UserError =>
  new UnprovenError(
    `The account of this key at ${baseUrl} does not have ${id}, and may not be the account of this stack's endpoints: the state was written with another key or base URL, and none of the ${listed} endpoints listed there is known to belong to this stack. Use a key of the right account (endpoints:apiKey or ENDPOINTS_API_KEY). If this is the right account, or if the endpoints of the other account should be dropped from the state, run the command once with ENDPOINTS_ACCEPT_ACCOUNT=1.`,
  );

export const updateNotFound = (id: string, notFound: EndpointsError): UserError =>
  new UserError(
    `${notFound.summary}. The endpoint ${id} no longer exists, or this is another service: run \`pulumi refresh\` to find out, then run the command again.`,
    { cause: notFound },
  );

export const alreadyManaged = (id: string): UserError =>
  new UserError(
    `${id} already belongs to another resource of this stack, and an endpoint can only belong to one. Remove adopt or import, or give the id of another endpoint.`,
  );

export const sharedEndpoint = (id: string): UserError =>
  new UserError(
    `${id} belongs to two resources of this stack, and an endpoint can only belong to one. Remove one of them from the state (\`pulumi state delete\` with its URN; \`npx pulumi-endpoints drift\` lists both), then run \`pulumi up --refresh\`: it creates an endpoint for that resource, if the program still has it.`,
  );

export const endpointNotFound = (id: string): UserError =>
  new UserError(`There is no endpoint ${id}. Correct the id, or create the endpoint with CloudEndpoint.`);

export const adoptNotFound = (id: string): UserError =>
  new UserError(
    `There is no endpoint ${id} to adopt. Remove adopt if this resource had adopted it before: then a new endpoint is created. Otherwise correct the id.`,
  );

export const adoptAmbiguous = (url: string, ids: string[]): UserError =>
  new UserError(
    `Several cloud endpoints can share ${url}, which has ${oneLine(ids.join(", "))}. Set adopt to the id of one of them.`,
  );

export const adoptOtherScheme = (id: string, live: string, wanted: string): UserError =>
  new UserError(
    `${id} serves ${oneLine(live, 300)}, and the scheme of an endpoint cannot change to that of ${wanted}. Adopt an endpoint with the same scheme, or remove adopt to create a new one.`,
  );

/** Says of an endpoint whose mark it has. */
export const carriesMark = (owner: Owner): string =>
  `which carries the mark of ${oneLine(ownerText(owner), 300)}`;

export const managedElsewhere = (id: string, owner: Owner): UserError =>
  new UserError(
    `The endpoint with this URL is ${id}, ${carriesMark(owner)}, and an endpoint can only belong to one stack. To take it over, remove it from that stack's state and program (\`pulumi state delete\`), and set adopt: "${id}".`,
  );

export const alsoManagedElsewhere = (id: string, owner: Owner): string =>
  `This import takes ${id}, ${carriesMark(owner)}, and an endpoint can only belong to one stack. Unless that is this stack under an earlier name, remove it from that stack's state and program (\`pulumi state delete\`): otherwise both change it, and each can delete it.`;

/** The warning of a refresh or an update about an endpoint that another resource took over. */
export const takenOver = (id: string, owner: Owner): string =>
  `This stack has ${id}, ${carriesMark(owner)}: another resource took it over, and both change it now. To leave it there, remove the resource from this program and from the state (\`pulumi state delete\`). To take it back, do so in the other stack, then remove it from this state, too, and set adopt: "${id}" for one \`pulumi up\`.`;

/** The message of a deletion that only drops the entry. */
export const keptForOwner = (id: string, owner: Owner): string =>
  `This stack forgets ${id}, ${carriesMark(owner)}: another resource took it over, so it was not deleted. If no stack has it, delete it or adopt it: \`npx pulumi-endpoints drift\` lists it.`;

export const belongsToAnother = (id: string): string =>
  `${id} belongs to another resource of this stack, so it was not deleted`;

/** What is known of an endpoint that holds a wanted URL. */
interface Holding {
  holder: LiveEndpoint;
  /** The resource that wants the URL, with `endpoints:mark`. */
  owner: Owner | undefined;
  /** The endpoint that an update moves; undefined for a create. */
  mover?: string | undefined;
  /** Whether a resource of the program has the holder, and does not change it. */
  stays: boolean;
  /** Whether the resource had this URL before, so that the holder is its own endpoint. */
  replacesItself?: boolean;
}

export function urlTaken(refusal: EndpointsError, url: string, holding: Holding): UserError {
  const { id, type, createdAt, description, createdFor } = holding.holder;
  const what = [
    type === "cloud" ? "a cloud endpoint" : `an endpoint of type ${oneLine(type ?? "unknown", 100)}`,
    createdAt && `created at ${oneLine(createdAt, 100)}`,
    createdFor && `created for ${oneLine(ownerText(createdFor), 300)}`,
    description && `described as “${oneLine(description, 100)}”`,
  ];
  const sentences = [
    refusal.summary,
    `${url} is served by ${id}, ${what.filter(Boolean).join(", ")}`,
    ...waysOut(holding),
  ];
  return new UserError(sentences.map((sentence) => `${sentence}.`).join(" "), { cause: refusal });
}

/** The ways out of a conflict about a URL, likeliest first: at most three. */
function waysOut({ holder, owner, mover, stays, replacesItself }: Holding): string[] {
  const { id, type, createdFor } = holder;
  if (type !== "cloud") return ["Choose another url, or stop the agent or edge that serves it"];
  if (replacesItself)
    return [
      "It is this resource's own endpoint, and a replacement creates before it deletes: set the option deleteBeforeReplace, or leave out --replace",
    ];
  if (stays)
    return [
      "It belongs to another resource of this stack, which keeps this URL: give each its own url, or set poolingEnabled on both",
    ];
  const isOurs = isSameOwner(createdFor, owner);
  const isOurStack = isSameStack(createdFor, owner);
  const isOtherStack = owner !== undefined && createdFor !== undefined && !isOurStack;
  const renamed = `If you renamed or moved this resource, give it aliases: [${aliasOf(createdFor, owner)}], and the endpoint stays as it is`;
  const inProgram = `If another resource of this program has it and leaves this URL, run \`pulumi up --target\` with that resource's URN first, or \`pulumi up --replace\` if the two swap their URLs; a replacement needs deleteBeforeReplace (\`pulumi stack --show-ids --show-urns\` shows who has ${id})`;
  const adopting = mover === undefined ? `, or set adopt: "${id}" to take it over` : "";
  const elsewhere = isOurs
    ? `If an earlier run left it behind, set adopt: "${id}" to take it over`
    : `If it is somebody else's, choose another url${adopting}`;
  return [
    ...(mover === undefined && !isOtherStack ? [renamed] : []),
    ...(isOtherStack ? [] : [inProgram]),
    ...(isOurStack && !isOurs ? [] : [elsewhere]),
  ];
}

/** The alias that keeps an endpoint with a renamed resource: its old name, or the whole URN if its parents differ. */
function aliasOf(old: Owner | undefined, now: Owner | undefined): string {
  if (!old || !now || !isSameStack(old, now) || isSameOwner(old, now)) return '{ name: "its old name" }';
  const [before, after] = [partsOf(old), partsOf(now)];
  return before.types === after.types
    ? `{ name: "${oneLine(before.name, 300)}" }`
    : `"${oneLine(old.urn, 300)}"`;
}

export const takeOverFailed = (id: string): UserError =>
  new UserError(
    `${id} was not deleted: another resource of this stack adopts it, and could not take it over in this run. Follow the message of that resource, then run the command again.`,
  );

export const urlLookup = (refusal: EndpointsError, why: EndpointsError, url: string): UserError =>
  new UserError(
    `${refusal.summary}. The provider could not find out whether another endpoint has ${url} (${oneLine(why.summary, 1000)}). Run the command again. If another endpoint has the URL, choose another url, or delete that endpoint.`,
    { cause: refusal },
  );

export const createDoubtful = (lost: EndpointsError, url: string, ids: string[]): UserError =>
  new UserError(
    ids.length > 0
      ? `${lost.summary}. It may have created one of these endpoints for ${url}, which belong to no resource of this run: ${oneLine(ids.join(", "))}. Find out which of them is in no stack, set adopt to its id or delete it, and run the command again.`
      : `${lost.summary}. The list does not show it, but another try could add a second endpoint to the pool. Look for an endpoint on ${url} that is in no stack. If there is one, set adopt to its id. If there is none, run the command again. With endpoints:mark, the provider can find out itself.`,
    { cause: lost },
  );

export const createUnsettled = (lost: EndpointsError, why: EndpointsError, url: string): UserError =>
  new UserError(
    `${lost.summary}. The provider could not find out whether the endpoint exists (${oneLine(why.summary, 1000)}). Check that endpoints:baseUrl (or ENDPOINTS_BASE_URL) names the service's API. Before the next run, look for an endpoint on ${url} that is in no stack. If there is one, set adopt to its id. If there is none, run the command again.`,
    { cause: lost },
  );

export const severalLeftovers = (url: string, ids: string[]): UserError =>
  new UserError(
    `${oneLine(ids.join(", "))} carry the mark of this resource, but belong to no resource of this run. Set adopt to the one to keep for ${url}, delete the others, and run the command again.`,
  );

/** Whether these can change is not certain: the public service's page on pooling says no, its other clients send them. */
const PERHAPS_FIXED: readonly string[] = ["url", "poolingEnabled"];

/** Whether the service refused the content of a request with a code that does not name what is wrong with it. */
function isUnexplained(failure: ApiError): boolean {
  return [400, 409, 422].includes(failure.status) && [undefined, 18014].includes(codeNumber(failure));
}

/** The error of a change. If the service may never make such a change, the error says how to go on. */
export function refusedChange(
  refusal: unknown,
  sent: readonly string[],
  { isAdoption = false }: { isAdoption?: boolean } = {},
): unknown {
  const fields = sent.filter((name) => PERHAPS_FIXED.includes(name));
  if (fields.length === 0 || !(refusal instanceof ApiError) || !isUnexplained(refusal)) return refusal;
  const [them, value] = fields.length > 1 ? ["them", "their live values"] : ["it", "its live value"];
  const otherwise = isAdoption
    ? "delete the endpoint and remove adopt"
    : "replace the endpoint: `pulumi up --replace URN` (`pulumi stack --show-urns` lists the URN)";
  return new UserError(
    `${refusal.message} If the service never changes ${fields.join(" and ")} of an existing endpoint, set ${them} in the program to ${value}, or ${otherwise}.`,
    { cause: refusal },
  );
}

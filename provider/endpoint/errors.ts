import {
  ApiError,
  ConnectionError,
  type EndpointsError,
  isOfService,
  ReplyError,
  UserError,
} from "../api/apiErrors";
import type { Owner } from "../api/contract";
import { ownerText } from "../api/mark";
import { oneLine } from "../api/text";

/*
 * The errors of operations, except for those of requests (`api/apiErrors.ts`) and of a taken URL (`takenUrl.ts`). A message is one
 * line: what happened, then at most three causes, each with its remedy. It names the failure of another request, and does not
 * quote it.
 */

/** A failed operation of Pulumi, with verb and endpoint: `cannot create https://shop.example.com: …`. */
export class OperationError extends UserError {
  constructor(operation: string, cause: UserError) {
    super(`cannot ${oneLine(operation, 300)}: ${cause.message}`, { cause });
  }
}

export const wrongType = (id: string, type: string): UserError =>
  new UserError(
    `${id} is of type ${oneLine(type, 100)}; CloudEndpoint manages cloud endpoints only. Read it with getEndpoint, or give the id of a cloud endpoint.`,
  );

export const reservedKey = (id: string, problem: string): UserError => new UserError(`${id}: ${problem}.`);

/** @param known The tokens that would have been right. */
export const unknownToken = (token: string, known: string[]): UserError =>
  new UserError(`A provider of this package has no ${oneLine(token, 200)}; it has ${known.join(" and ")}.`);

export const goneUnproven = (id: string, why: EndpointsError): UserError =>
  new UserError(
    `The service does not find ${id}, but its list, which would prove that the endpoint is gone, cannot be read (${nameOf(why)}). Check endpoints:baseUrl (or ENDPOINTS_BASE_URL), with its path prefix, and use a key with the permission to list endpoints. If the endpoint is gone, run \`pulumi state delete\` with the resource's URN.`,
  );

export const stillListed = (id: string, notFound: EndpointsError): UserError =>
  new UserError(
    `${notFound.summary}, but the account's list still contains ${id}, so it stays in the state. Check whether a proxy or gateway answers in place of the service (endpoints:baseUrl or ENDPOINTS_BASE_URL, HTTPS_PROXY), then run the command again.`,
  );

export const otherAccount = (id: string, listed: number, baseUrl: string): UserError =>
  new UserError(
    `The account of this key at ${baseUrl} does not have ${id}, and may not be the account of this stack: the state was written with another key or base URL, and none of the ${listed} endpoints listed there is known to be this stack's. Use a key of the right account (endpoints:apiKey or ENDPOINTS_API_KEY). If this account is right, or replaces the other one, run the command once with ENDPOINTS_ACCEPT_ACCOUNT=1.`,
  );

export const updateNotFound = (id: string, notFound: EndpointsError): UserError =>
  new UserError(
    `${notFound.summary}. The endpoint ${id} no longer exists, or this is another service: run \`pulumi refresh\` to find out, then run the command again.`,
  );

export const alreadyManaged = (id: string): UserError =>
  new UserError(
    `${id} already belongs to another resource of this stack, and an endpoint can only belong to one. Remove adopt or import, or give the id of another endpoint.`,
  );

export const sharedEndpoint = (id: string): UserError =>
  new UserError(
    `${id} belongs to two resources of this stack, and an endpoint can only belong to one. Remove one of them from the state: \`pulumi state delete\` with its URN (\`npx pulumi-endpoints drift\` lists both). Then run \`pulumi up --refresh\`, which creates an endpoint for it if the program still has it.`,
  );

export const endpointNotFound = (id: string): UserError =>
  new UserError(`There is no endpoint ${id} in this account. Correct the id; getEndpoints() lists them all.`);

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

/** Says of an endpoint whose mark it has. */
export const carriesMark = (owner: Owner): string =>
  `which carries the mark of ${oneLine(ownerText(owner), 300)}`;

export const managedElsewhere = (id: string, owner: Owner): UserError =>
  new UserError(
    `The endpoint with this URL is ${id}, ${carriesMark(owner)}, and an endpoint can only belong to one stack. To take it over, remove it from that stack's state and program (\`pulumi state delete\`), and set adopt: "${id}".`,
  );

export const alsoManagedElsewhere = (id: string, owner: Owner): string =>
  `This import takes ${id}, ${carriesMark(owner)}. Unless that is this stack under an earlier name, remove the resource from that stack's state and program (\`pulumi state delete\`): otherwise both change the endpoint, and each can delete it.`;

/** The warning of a refresh or an update about an endpoint that another resource took over. */
export const takenOver = (id: string, owner: Owner): string =>
  `This stack has ${id}, ${carriesMark(owner)}: another resource took it over, and both change it now. To leave it there, remove the resource from this stack's state and program (\`pulumi state delete\`). To take it back, remove the other resource from its state and program, and this one from this stack's state alone; then set adopt: "${id}" for one \`pulumi up\`.`;

/** The message of a deletion that only drops the entry. */
export const keptForOwner = (id: string, owner: Owner): string =>
  `This stack forgets ${id}, ${carriesMark(owner)}: another resource took it over, so it was not deleted. If no stack has it, delete it or adopt it: \`npx pulumi-endpoints drift\` lists it.`;

export const belongsToAnother = (id: string): string =>
  `${id} belongs to another resource of this stack, so it was not deleted`;

export const takeOverFailed = (id: string): UserError =>
  new UserError(
    `${id} was not deleted: another resource of this stack adopts it, and could not take it over in this run. Follow the message of that resource, then run the command again.`,
  );

/** A failed request by its name: its own text, with remedies of its own, would be a second message in this one. */
function nameOf(error: EndpointsError): string {
  const request = `${error.method} ${error.path}`;
  if (error instanceof ApiError)
    return oneLine(`${request}: status ${error.status} ${isOfService(error) ? error.code : ""}`, 300);
  if (error instanceof ReplyError) return `${request}: a reply that is not the service's`;
  return `${request}: ${error instanceof ConnectionError ? "no answer" : "not sent"}`;
}

export const urlLookup = (refusal: EndpointsError, why: EndpointsError, url: string): UserError =>
  new UserError(
    `${refusal.summary}. The provider could not find out whether another endpoint has ${url} (${nameOf(why)}). Run the command again. If another endpoint has the URL, choose another url, or delete that endpoint.`,
  );

const lookFor = (url: string) =>
  `Look for an endpoint on ${url} that is in no stack. If there is one, set adopt to its id. If there is none, run the command again.`;

export const createDoubtful = (lost: EndpointsError, url: string, ids: string[]): UserError =>
  new UserError(
    ids.length > 0
      ? `${lost.summary}. It may have created one of these endpoints for ${url}, which belong to no resource of this run: ${oneLine(ids.join(", "))}. Find out which of them is in no stack, set adopt to its id or delete it, and run the command again.`
      : `${lost.summary}. The list does not show it, but another try could add a second endpoint to the pool. ${lookFor(url)} With endpoints:mark, the provider can find out itself.`,
  );

export const createUnsettled = (lost: EndpointsError, why: EndpointsError, url: string): UserError =>
  new UserError(
    `${lost.summary}. The provider could not find out whether the endpoint exists (${nameOf(why)}). Check that endpoints:baseUrl (or ENDPOINTS_BASE_URL) names the service's API. ${lookFor(url)}`,
  );

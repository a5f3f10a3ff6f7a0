import { ApiError, EndpointsError, UserError } from "../api/apiErrors";
import type { LiveEndpoint, Owner } from "../api/contract";
import type { JsonObject } from "../api/json";
import { foreignOwner, isSameOwner, isSameStack, ownerText, partsOf, stackText } from "../api/mark";
import { isUnexplained } from "../api/remedies";
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

/** A create of which only the id is known. Pulumi keeps it in the state as a partial create. */
export class PartialCreateError extends UserError {
  readonly reasons: string[];

  constructor(
    readonly id: string,
    readonly properties: JsonObject,
    cause: Error,
  ) {
    const why = oneLine(cause instanceof EndpointsError ? cause.summary : cause.message);
    const reason = `${id} was created, but the provider could not read its fields (${why}); run \`pulumi refresh\` or \`pulumi up\` again`;
    super(reason, { cause });
    this.reasons = [reason];
  }
}

export const wrongType = (id: string, type: string): UserError =>
  new UserError(
    `${id} is of type ${oneLine(type, 100)}; CloudEndpoint manages cloud endpoints only. Read it with getEndpoint, or give the id of a cloud endpoint.`,
  );

export const tooOld = (id: string, theirs: string, ours: string): UserError =>
  new UserError(
    `The state of ${id} was written by pulumi-endpoints ${oneLine(theirs, 50)}, and ${ours} is too old to read it. Install ${oneLine(theirs.replace(/\+.*/s, ""), 50)} or later.`,
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

export const goneUnproven = (id: string, notFound: EndpointsError, why: EndpointsError): UserError =>
  new UserError(
    `The service reports that ${id} does not exist, but its list, which would prove that, cannot be read (${oneLine(why.summary, 1000)}). Check endpoints:baseUrl (or ENDPOINTS_BASE_URL), with its path prefix, and use a key with the permission to list endpoints. If the endpoint no longer exists, remove the resource with \`pulumi state delete\`.`,
    { cause: notFound },
  );

export const stillListed = (id: string, notFound: EndpointsError): UserError =>
  new UserError(
    `${notFound.summary}, but the account's list still contains ${id}, so it stays in the state. Check whether a proxy or gateway answers in place of the service (endpoints:baseUrl or ENDPOINTS_BASE_URL, HTTPS_PROXY), then run the command again.`,
    { cause: notFound },
  );

export const otherAccount = (id: string, listed: number, baseUrl: string): UserError =>
  new UserError(
    `The account of this key at ${baseUrl} does not have ${id}, and may not be the account of this stack's endpoints: the state was written with another key or base URL, and none of the ${listed} endpoints listed there is known to belong to this stack. Use a key of the right account (endpoints:apiKey or ENDPOINTS_API_KEY). If this is the right account, or if the endpoints of the other account should be dropped from the state, run the command once with ENDPOINTS_ACCEPT_ACCOUNT=1.`,
  );

export const otherAccountToo = (id: string, explainedFor: string): UserError =>
  new UserError(`The account of this key does not have ${id} either: see the message about ${explainedFor}.`);

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
    `There is no endpoint ${id} to adopt. Correct the id, or remove adopt to create a new endpoint.`,
  );

export const adoptAmbiguous = (url: string, ids: string[]): UserError =>
  new UserError(
    `Several cloud endpoints serve ${url}: ${oneLine(ids.join(", "))}. Set adopt to the id of one of them.`,
  );

export const adoptOtherScheme = (id: string, live: string, wanted: string): UserError =>
  new UserError(
    `${id} serves ${oneLine(live, 300)}, and the scheme of an endpoint cannot change to that of ${wanted}. Adopt an endpoint with the same scheme, or remove adopt to create a new one.`,
  );

const marked = (id: string, owner: Owner): string =>
  `${id} carries the mark of ${oneLine(ownerText(owner), 300)}`;

export const managedElsewhere = (id: string, owner: Owner): UserError =>
  new UserError(
    `${marked(id, owner)}, and an endpoint can only belong to one stack. To take it over, remove it from that stack's state and program (\`pulumi state delete\`), and set adoptFrom: "${stackText(owner)}" beside adopt. If this stack was renamed, or had another endpoints:mark, the mark is its own: then adoptFrom is enough.`,
  );

export const importedFromElsewhere = (id: string, owner: Owner): string =>
  `${marked(id, owner)}, and an endpoint can only belong to one stack. Unless that is this stack under an earlier name, remove it from that stack's state and program (\`pulumi state delete\`): otherwise both change it, and each can delete it.`;

/** What is known of an endpoint that holds a wanted URL. */
interface Holding {
  holder: LiveEndpoint;
  /** The resource that wants the URL, with `endpoints:mark`. */
  owner: Owner | undefined;
  isUpdate: boolean;
  /** Whether it has exactly the wanted content. */
  isSame: boolean;
  isYoung: boolean;
  /** Whether a resource of the program has it. */
  isManaged: boolean;
  /** Whether that resource has another URL, in the state and in the program. */
  hasOtherUrl: boolean;
  /** Whether an entry of the state has it. */
  isMet: boolean;
}

export function urlTaken(conflict: EndpointsError, url: string, holding: Holding): UserError {
  const { id, type, createdAt, description, createdFor } = holding.holder;
  const what = [
    type === "cloud" ? "a cloud endpoint" : `an endpoint of type ${oneLine(type ?? "unknown", 100)}`,
    createdAt === undefined ? "" : `created at ${oneLine(createdAt, 100)}`,
    createdFor ? `created for ${oneLine(ownerText(createdFor), 300)}` : "",
    description && !holding.isSame ? `described as “${oneLine(description, 100)}”` : "",
  ];
  const known = `${url} is served by ${id}, ${what.filter(Boolean).join(", ")}`;
  const sentences = [conflict.summary, known, ...waysOut(holding)];
  return new UserError(sentences.map((sentence) => `${sentence}.`).join(" "), { cause: conflict });
}

/** The ways out of a conflict about a URL, likeliest first. */
function waysOut(holding: Holding): string[] {
  const { holder, owner, isUpdate, isSame, isYoung, isManaged, hasOtherUrl, isMet } = holding;
  const { id, type, createdFor } = holder;
  if (type !== "cloud") return ["Choose another url, or stop the agent or edge that serves it"];
  if (hasOtherUrl)
    return [
      "It belongs to another resource of this stack, whose url is another one in the program and in the state: run `pulumi up --refresh`, which moves it back",
    ];
  if (isManaged)
    return [
      "It belongs to another resource of this stack: give each its own url, or set poolingEnabled on both",
    ];
  const isOthers = !isSameOwner(createdFor, owner);
  const ways = waysWithinStack(id, createdFor, owner, { isUpdate });
  if (isMet || (isSameStack(createdFor, owner) && isOthers)) return ways;
  const without = "choose another url, or delete that endpoint";
  const theirs = foreignOwner(holder, owner);
  const adopt = `set adopt: "${id}"${theirs ? ` and adoptFrom: "${stackText(theirs)}"` : ""}`;
  const adopting = isUpdate
    ? without
    : `choose another url, delete that endpoint, or ${adopt} to take it from its present owner`;
  if (owner && createdFor && isOthers)
    return [`Another stack manages it, or this one under an earlier name: ${adopting}`];
  const unsure = "Otherwise another stack, program or person may manage it";
  if (isUpdate || !isSame || !isYoung) return [...ways, `${unsure}: ${adopting}`];
  return [
    ...ways,
    `Perhaps a killed run left it behind, with exactly this content: then ${adopt} on this resource for one \`pulumi up\``,
    `${unsure}: ${without}`,
  ];
}

/** The ways out if another resource of this stack has, or had, the endpoint. */
function waysWithinStack(
  id: string,
  createdFor: Owner | undefined,
  owner: Owner | undefined,
  { isUpdate }: { isUpdate: boolean },
): string[] {
  const isNamed =
    createdFor !== undefined && isSameStack(createdFor, owner) && !isSameOwner(createdFor, owner);
  const urn = isNamed ? oneLine(createdFor.urn, 300) : undefined;
  let alias = '{ name: "its old name" }';
  if (isNamed && owner) {
    const [old, now] = [partsOf(createdFor), partsOf(owner)];
    alias = old.types === now.types ? `{ name: "${oneLine(old.name, 300)}" }` : `"${urn}"`;
  }
  const which = isNamed ? "that resource" : "another resource";
  const target = urn ? `\`pulumi up --target '${urn}'\`` : "`pulumi up --target` with its URN";
  const other = `If ${which} changes its URL in this run, or was removed from the program, run ${target} first (the endpoint of a removed resource is deleted), then run \`pulumi up\` again. \`pulumi stack --show-ids --show-urns\` shows which resource has ${id} now`;
  return isUpdate
    ? [other]
    : [
        `If you renamed or moved this resource, give it aliases: [${alias}], and the endpoint stays as it is`,
        other,
      ];
}

export class UrlCircleError extends UserError {
  /** @param endpoints Their ids with their present URLs. */
  constructor(endpoints: string[]) {
    super(
      `These endpoints wait for each other's URLs: ${oneLine(endpoints.join(", "), 1000)}. Run \`pulumi up --replace\` once with the URN of one of them (\`pulumi stack --show-ids --show-urns\` lists them). It is deleted first, which frees its URL for another one, and created again with a new id.`,
    );
  }
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
      ? `${lost.summary}. It may have created one of these endpoints, which serve ${url} and belong to no resource of this run: ${oneLine(ids.join(", "))}. Find out which of them is in no stack, set adopt to its id or delete it, and run the command again.`
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

import { EndpointsError, UserError } from "./api/apiErrors";
import type { LiveEndpoint } from "./api/contract";
import { oneLine } from "./api/foreignText";
import type { JsonObject } from "./api/json";
import { ownerText } from "./api/mark";

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

export class WrongTypeError extends UserError {
  constructor(id: string, type: string) {
    super(
      `${id} is of type ${oneLine(type, 100)}; CloudEndpoint manages cloud endpoints only. Read it with getEndpoint, or give the id of a cloud endpoint.`,
    );
  }
}

export class ReservedKeyError extends UserError {
  constructor(id: string, problem: string) {
    super(`${id} cannot be managed: ${problem}.`);
  }
}

export class UnknownTokenError extends UserError {
  constructor(token: string, known: string[]) {
    super(`There is no ${oneLine(token, 200)} in this package; it has ${known.join(" and ")}.`);
  }
}

export class GoneUnprovenError extends UserError {
  constructor(id: string, notFound: EndpointsError, why: EndpointsError) {
    super(
      `The service reports that ${id} does not exist, but its list, which would prove that, cannot be read (${oneLine(why.summary, 1000)}). Check endpoints:baseUrl (or ENDPOINTS_BASE_URL), with its path prefix, and use a key with the permission to list endpoints. If the endpoint no longer exists, remove the resource with \`pulumi state delete\`.`,
      { cause: notFound },
    );
  }
}

export class StillListedError extends UserError {
  constructor(id: string, notFound: EndpointsError) {
    super(
      `${notFound.summary}, but the account's list still contains ${id}, so it stays in the state. Check whether a proxy or gateway answers in place of the service (endpoints:baseUrl or ENDPOINTS_BASE_URL, HTTPS_PROXY), then run the command again.`,
      { cause: notFound },
    );
  }
}

export class OtherAccountError extends UserError {
  constructor(id: string, listed: number, baseUrl: string) {
    super(
      `The account of this key at ${baseUrl} does not have ${id}, and may not be the account of this stack's endpoints: the state was written with another key or base URL, and none of the ${listed} endpoints listed there is known to belong to this stack. Use a key of the right account (endpoints:apiKey or ENDPOINTS_API_KEY). If this is the right account, or if the endpoints of the other account should be dropped from the state, run the command once with ENDPOINTS_ACCEPT_ACCOUNT=1.`,
    );
  }
}

export class UpdateNotFoundError extends UserError {
  constructor(id: string, notFound: EndpointsError) {
    super(
      `${notFound.summary}. The endpoint ${id} no longer exists, or this is another service: run \`pulumi refresh\` to find out, then run the command again.`,
      { cause: notFound },
    );
  }
}

export class AlreadyManagedError extends UserError {
  constructor(id: string) {
    super(
      `${id} already belongs to another resource of this stack, and an endpoint can only belong to one. Remove adopt, or give the id of another endpoint.`,
    );
  }
}

export class EndpointNotFoundError extends UserError {
  constructor(id: string) {
    super(`There is no endpoint ${id}. Correct the id, or create the endpoint with CloudEndpoint.`);
  }
}

export class AdoptNotFoundError extends UserError {
  constructor(id: string) {
    super(`There is no endpoint ${id} to adopt. Correct the id, or remove adopt to create a new endpoint.`);
  }
}

export class AdoptAmbiguousError extends UserError {
  constructor(url: string, ids: string[]) {
    super(
      `Several cloud endpoints serve ${url}: ${oneLine(ids.join(", "))}. Set adopt to the id of one of them.`,
    );
  }
}

export class AdoptOtherSchemeError extends UserError {
  constructor(id: string, live: string, wanted: string) {
    super(
      `${id} serves ${oneLine(live, 300)}, and the scheme of an endpoint cannot change to that of ${wanted}. Adopt an endpoint with the same scheme, or remove adopt to create a new one.`,
    );
  }
}

export class UrlTakenError extends UserError {
  constructor(
    conflict: EndpointsError,
    url: string,
    { id, type, createdAt, description, createdFor }: LiveEndpoint,
    { isSame, isKnown }: { isSame: boolean; isKnown: boolean },
  ) {
    const what = [
      type === "cloud" ? "a cloud endpoint" : `an endpoint of type ${oneLine(type ?? "unknown", 100)}`,
      createdAt === undefined ? "" : `created at ${oneLine(createdAt, 100)}`,
      createdFor ? `created for ${oneLine(ownerText(createdFor), 300)}` : "",
      description && !isSame ? `described as “${oneLine(description, 100)}”` : "",
      isSame ? "with exactly this content, perhaps left behind by a killed run" : "",
    ];
    const free = "choose another url, or delete the endpoint";
    const remedy = isKnown
      ? `it belongs to another resource of this stack, so give each its own url, or set poolingEnabled on both`
      : type !== "cloud"
        ? `choose another url, or stop the agent or edge that serves it`
        : isSame
          ? `set adopt: "${id}" on this resource for one \`pulumi up\`, or set endpoints:recoverWithin to take such endpoints over without asking`
          : `set adopt: "${id}" to manage it with this resource; otherwise ${free}`;
    super(`${conflict.summary}. ${url} is served by ${id}, ${what.filter(Boolean).join(", ")}: ${remedy}.`, {
      cause: conflict,
    });
  }
}

export class CreateRefusedError extends UserError {
  constructor(conflict: EndpointsError, why: EndpointsError, url: string) {
    super(
      `${conflict.summary}. The provider could not find out whether another endpoint has ${url} (${oneLine(why.summary, 1000)}). Run the command again; if another endpoint has the URL, set adopt to take it over, or choose another url.`,
      { cause: conflict },
    );
  }
}

export class CreateDoubtfulError extends UserError {
  constructor(lost: EndpointsError, url: string, ids: string[]) {
    super(
      ids.length > 0
        ? `${lost.summary}. It may have created one of these endpoints, which serve ${url} and belong to no resource of this run: ${oneLine(ids.join(", "))}. Find out which of them is in no stack, set adopt to its id or delete it, and run the command again.`
        : `${lost.summary}. The list does not show it, but another try could add a second endpoint to the pool. Look for an endpoint on ${url} that is in no stack. If there is one, set adopt to its id. If there is none, run the command again. With endpoints:mark, the provider can find out itself.`,
      { cause: lost },
    );
  }
}

export class CreateUnsettledError extends UserError {
  constructor(lost: EndpointsError, why: EndpointsError, url: string) {
    super(
      `${lost.summary}. The provider could not find out whether the endpoint exists (${oneLine(why.summary, 1000)}). Check that endpoints:baseUrl (or ENDPOINTS_BASE_URL) names the service's API. Before the next run, look for an endpoint on ${url} that is in no stack. If there is one, set adopt to its id. If there is none, run the command again.`,
      { cause: lost },
    );
  }
}

export class SeveralLeftoversError extends UserError {
  constructor(url: string, ids: string[]) {
    super(
      `${oneLine(ids.join(", "))} carry the mark of this resource, but belong to no resource of this run. Set adopt to the one to keep for ${url}, delete the others, and run the command again.`,
    );
  }
}

export class DeleteOfAdoptedError extends UserError {
  constructor(id: string) {
    super(
      `${id} was adopted by its own replacement in this run, so it was not deleted. Remove the old entry (marked "delete": true) with \`pulumi stack export\` and \`pulumi stack import\` before the next run, and do not set deleteBeforeReplace: false.`,
    );
  }
}

import * as pulumi from "@pulumi/pulumi";
import { checkInputs } from "../provider/check";
import type { JsonObject } from "../provider/schema";
import { normalizeUrl } from "../provider/url";

/*
 * The engine stops at the first resource whose check fails. So that one preview shows the mistakes of all, each
 * constructor looks at the values that are known and reports what it finds itself.
 */

interface Claim {
  resource: pulumi.Resource;
  name: string;
  pooled: boolean;
}

/** The URLs of one run of a program, by that run's connection to the engine; several runs can share a process. */
const claims = new WeakMap<object, Map<string, Claim>>();

/** Reports every mistake in those inputs whose values are known, and a URL that another resource of the program has. */
export function checkHere(resource: pulumi.Resource, name: string, args: JsonObject): void {
  const report = (reason: string) => void pulumi.log.error(`${name}: ${reason}`, resource);

  // Each input by itself, since one that is unknown would hold back what can be said of the others.
  for (const [input, value] of Object.entries(args)) {
    if (value === undefined) continue;
    pulumi.output(value).apply((known) => {
      const isMissingUrl = (property: string) => property === "url" && input !== "url";
      const { failures } = checkInputs({ [input]: known });
      for (const failure of failures) if (!isMissingUrl(failure.property)) report(failure.reason);
    });
  }
  if (args["url"] === undefined) for (const failure of checkInputs({}).failures) report(failure.reason);

  pulumi.output([args["url"], args["poolingEnabled"]]).apply(([url, pooling]) => {
    const normal = typeof url === "string" ? normalizeUrl(url) : undefined;
    if (normal !== undefined) claim(normal, { resource, name, pooled: pooling === true }, report);
  });
}

/** Two resources with one URL would fight over one endpoint, unless both share it. */
function claim(url: string, mine: Claim, report: (reason: string) => void): void {
  const monitor = pulumi.runtime.getMonitor() ?? claims;
  const taken = claims.get(monitor) ?? new Map<string, Claim>();
  claims.set(monitor, taken);
  const other = taken.get(url);
  if (!other) taken.set(url, mine);
  if (!other || other.resource === mine.resource || (other.pooled && mine.pooled)) return;
  report(
    `${url} is also the url of ${other.name}; give each endpoint its own, or set poolingEnabled on both`,
  );
}

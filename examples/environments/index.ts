import { CloudEndpoint } from "pulumi-endpoints";
import { forwardTo, limitTo, maintenance, onlyFrom, onRequest } from "./fragments";
import { readSettings } from "./settings";

/*
 * One program for every environment:
 *
 *   pulumi stack select dev  --create && pulumi up
 *   pulumi stack select prod --create && pulumi up
 *
 * Pulumi.dev.yaml and Pulumi.prod.yaml contain the differences, with types in settings.ts. fragments.ts contains the shared parts.
 */
const settings = readSettings();
const guards = [onlyFrom(settings.onlyFrom), limitTo(settings.requestsPerMinute)];

/** A public front door for an application that an agent serves at `https://<name>.<environment>.internal`. */
function frontDoor(name: string): CloudEndpoint {
  const answer = settings.maintenance
    ? maintenance()
    : forwardTo(`https://${name}.${settings.environment}.internal`);
  return new CloudEndpoint(name, {
    url: `https://${name}.${settings.domain}`,
    description: `${name}, ${settings.environment}`,
    metadata: { environment: settings.environment },
    trafficPolicy: onRequest(...guards, answer),
  });
}

export const urls = ["shop", "api"].map((name) => frontDoor(name).publicUrl);

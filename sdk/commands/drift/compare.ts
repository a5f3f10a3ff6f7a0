import { z } from "zod";
import type { JsonObject, Path } from "../../../provider/data/index";
import { documentsAsData } from "../../../provider/endpoint/fields";
import { engineInputs } from "../../../provider/endpoint/inputs";
import { MASKED } from "../../../provider/endpoint/secretSearch";
import { displayPath, withSecretsNote } from "../../../provider/endpoint/secrets";
import {
  changedPaths,
  refreshedFromLive,
  SERVICE_DEFAULTS_KEY,
  withServiceDefaults,
} from "../../../provider/endpoint/state";
import type { Endpoint } from "../../../provider/service/contract";
import { isWithin, parsePath, valueAt } from "../../pulumi-cli/index";
import type { ManagedEndpoint } from "../userProject";
import { type DriftedEndpoint, type FieldChange, INVALID_POLICY } from "./report";
import type { SecretTexts } from "./secretTexts";

/** The change on the service, by the kind of change that would repair it. */
const CHANGE_KINDS = { add: "removed", delete: "added", update: "changed" } as const;

/**
 * The drift of an endpoint; undefined if there is none. The provider's diff decides, as it does for `pulumi up`. A changed field with
 * a secret in it shows its paths, and no values.
 *
 * @param live The live endpoint; undefined if it is gone.
 */
export function driftOf(
  managed: ManagedEndpoint,
  live: Endpoint | undefined,
  masks: SecretTexts,
): DriftedEndpoint | undefined {
  const { name, urn, type, id, secrets, ignored } = managed;
  const about = { name, urn, type, id, ...shownUrl(managed, masks) };
  if (!live) return { ...about, drift: "deleted", changes: [] };

  const outputs = documentsAsData(refreshedFromLive(live, managed.outputs).props);
  // The state notes the service defaults of inputs that are not set by the program.
  const noted = { ...outputs, [SERVICE_DEFAULTS_KEY]: managed.outputs[SERVICE_DEFAULTS_KEY] };
  const inputs = engineInputs(managed.inputs);
  const sides = { expected: withServiceDefaults(inputs, managed.outputs) as JsonObject, live: outputs };
  const isIgnored = (path: Path) => ignored.some((text) => isWithin(path, parsePath(text) ?? [text]));
  const changed = changedPaths(noted, inputs).filter(
    ({ path, isInputDiff }) => !isInputDiff && !isIgnored(path),
  );
  if (changed.length === 0) return undefined;
  const texts = masks.and(managed, outputs);
  const hasSecret = (field: string) =>
    secrets.has(field) || Object.values(sides).some((side) => texts.isIn(side[field]));
  const secretFields = new Set(changed.map(({ path }) => String(path[0])).filter(hasSecret));
  const changes = changed.map(({ path, kind }) => fieldChange(path, CHANGE_KINDS[kind], sides, secretFields));
  return { ...about, drift: "changed", changes };
}

/** The URL of a state's entry, as a report may show it. */
export const shownUrl = ({ inputs: { url } }: ManagedEndpoint, masks: SecretTexts): { url?: string } =>
  typeof url === "string" ? { url: masks.shown(url) } : {};

function fieldChange(
  path: Path,
  kind: FieldChange["kind"],
  sides: { expected: unknown; live: unknown },
  secretFields: ReadonlySet<string>,
): FieldChange {
  const field = String(path[0]);
  const secret = secretFields.has(field);
  const [expected, live] = [sides.expected, sides.live].map((side) => {
    const value = path.reduce(valueAt, side);
    if (value === undefined) return undefined;
    if (secret) return MASKED;
    return field === "trafficPolicy" && path.length === 1 && typeof value === "string"
      ? INVALID_POLICY
      : json.parse(value);
  });
  return {
    ...{ field, path: displayPath(path, withSecretsNote({}, secretFields)), kind },
    ...(expected !== undefined && { expected }),
    ...(live !== undefined && { live }),
    secret,
  };
}

const json = z.json();

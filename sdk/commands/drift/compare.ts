import { z } from "zod";
import type { LiveEndpoint } from "../../../provider/api/items";
import type { JsonObject } from "../../../provider/api/json";
import { isMapping } from "../../../provider/api/json";
import { checkedInputs } from "../../../provider/check";
import { CHOSEN_KEY, withChosen } from "../../../provider/chosen";
import { changedPlaces } from "../../../provider/diff";
import { type Change, type Path, pathText } from "../../../provider/document";
import type { Redaction } from "../../../provider/redaction";
import { MASKED } from "../../../provider/secrets";
import { refreshed, withoutGaps } from "../../../provider/state";
import type { Step } from "../../testing/types";
import type { Held } from "./held";
import { BROKEN, type DriftedEndpoint, type FieldChange } from "./report";
import { isSecretPlace, secretTexts, shownValue } from "./secrets";

/** What a repair would do to the service, told as what has happened to it. */
const HAPPENED = { add: "removed", delete: "added", update: "changed" } as const;

/**
 * An endpoint as it is meant to be and as a refresh found it; undefined where nothing of it has drifted. What counts as a
 * difference is the provider's own judgement, the one that `pulumi up` would act on.
 *
 * @param live The endpoint as the account's list shows it: the step shows nothing of what is secret.
 * @param meant What it should be, where that is not what the state holds: a state that was refreshed holds what is live.
 */
export function driftOf(
  held: Held,
  step: Step,
  live: LiveEndpoint | undefined,
  meant: Held = held,
): DriftedEndpoint | undefined {
  const { name, urn, type, id } = held;
  const { url } = meant.inputs;
  const shownUrl = meant.secrets.has("url")
    ? MASKED
    : typeof url === "string"
      ? secretTexts([meant.inputs], meant.secrets).redacted(url)
      : undefined;
  const about = { name, urn, type, id, ...(shownUrl !== undefined && { url: shownUrl }) };
  if (step.op === "delete") return { ...about, drift: "deleted", changes: [] };
  if (step.op === "same" && meant === held) return undefined;

  const { outputs, hidden } =
    step.op === "same" ? { outputs: held.outputs, hidden: [] } : whatIsLive(held, step, live);
  // What the service chose where nothing was given is noted in what was held; not every engine shows it in a step.
  const noted = { ...without(outputs, hidden), [CHOSEN_KEY]: meant.outputs[CHOSEN_KEY] };
  const places = changedPlaces(noted, checkedInputs(without(meant.inputs, hidden)));
  const expected = { ...meant, inputs: withChosen(checkedInputs(meant.inputs), meant.outputs) };
  const secrets = secretTexts([meant.inputs, outputs], meant.secrets);
  const changes = places
    .filter(({ path, ofInputs }) => !ofInputs && !isIgnored(path, meant.ignored))
    .map((place) => told(place, expected, outputs, secrets));
  // Of what is hidden it is only known that it has drifted where nothing else has.
  const guessed = places.length > 0 ? [] : hidden.filter((name) => name in meant.inputs).map(hiddenChange);
  const all = [...changes, ...guessed];
  return all.length > 0 ? { ...about, drift: "changed", changes: all } : undefined;
}

/** The outputs as they are now, and the names of those of which nothing is known but that they are secret. */
function whatIsLive(
  held: Held,
  { outputs = {} }: Step,
  live: LiveEndpoint | undefined,
): { outputs: JsonObject; hidden: string[] } {
  const hidden = Object.keys(outputs).filter((name) => JSON.stringify(outputs[name])?.includes(MASKED));
  const whole = hidden.length > 0 && live && withoutGaps(live, held.outputs);
  return whole ? { outputs: refreshed(whole, held.outputs).props, hidden: [] } : { outputs, hidden };
}

/** @param secrets Those of both sides. */
function told({ path, kind }: Change, held: Held, outputs: JsonObject, secrets: Redaction): FieldChange {
  const field = String(path[0]);
  const isSecret = [held.inputs, outputs].some((document) => isSecretPlace(document, path));
  const show = (value: unknown) => {
    if (value === undefined) return undefined;
    if (field === "trafficPolicy" && path.length === 1 && typeof value === "string") return BROKEN;
    return held.secrets.has(field) ? MASKED : json.parse(shownValue(value, secrets, isSecret));
  };
  const [expected, live] = [show(valueAt(held.inputs, path)), show(valueAt(outputs, path))];
  return {
    field,
    path: field + secrets.redacted(pathText(path).slice(field.length)),
    kind: HAPPENED[kind],
    ...(expected !== undefined && { expected }),
    ...(live !== undefined && { live }),
    secret: JSON.stringify([expected, live]).includes(MASKED),
  };
}

function hiddenChange(field: string): FieldChange {
  return { field, path: field, kind: "changed", expected: MASKED, live: MASKED, secret: true };
}

const json = z.json();

const without = (from: JsonObject, names: string[]): JsonObject =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));

/** `ignoreChanges` of the program names a path, and means all below it. */
function isIgnored(path: Path, ignored: string[]): boolean {
  const text = pathText(path);
  return ignored.some(
    (one) => one === "*" || text === one || text.startsWith(`${one}.`) || text.startsWith(`${one}[`),
  );
}

function valueAt(data: unknown, path: Path): unknown {
  return path.reduce<unknown>((part, name) => {
    if (Array.isArray(part)) return part[Number(name)];
    return isMapping(part) && Object.hasOwn(part, name) ? part[name] : undefined;
  }, data);
}

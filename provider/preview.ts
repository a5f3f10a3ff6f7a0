import type { JsonObject } from "./api/json";
import { derivedFromUrl } from "./api/url";
import { difference } from "./diff";
import { hasUnknown, UNKNOWN } from "./document";
import {
  type CloudEndpointInputs,
  clearedFields,
  decidedWithUrl,
  derivedWithUrl,
  endpointFields,
  withPreviewTexts,
} from "./fields";
import { isDescribed, notesOf, unchangedOutputs, withChosen } from "./state";

/*
 * The outputs of a preview. Only certain values are known: the program's inputs, fields that the contract derives from the
 * URL, and fields that an update does not touch. Everything else is unknown until the service has answered.
 */

/** The outputs of a previewed create. */
export function previewCreate(inputs: CloudEndpointInputs): JsonObject {
  const isOpen = (name: string) => name !== "id" && !clearedFields.some((cleared) => cleared === name);
  return {
    ...unknown(Object.keys(endpointFields).filter(isOpen)),
    type: "cloud",
    ...addressOf(inputs),
    ...given(inputs),
  };
}

/** The outputs of a previewed update. */
export function previewUpdate(olds: JsonObject, inputs: CloudEndpointInputs): JsonObject {
  if (!isDescribed(olds)) return previewCreate(inputs);
  const { changed } = difference(olds, inputs);
  const observed = unchangedOutputs(olds, inputs);
  if (changed.length === 0) return observed;

  const wanted: JsonObject = withChosen(inputs, olds);
  const kept = Object.fromEntries(
    Object.entries(observed).filter(([name]) => !changed.some((one) => one === name)),
  );
  const sent = changed.filter((name) => wanted[name] !== undefined).map((name) => [name, wanted[name]]);
  const moved = changed.includes("url") && {
    ...unknown(decidedWithUrl),
    ...addressOf(inputs),
  };
  return {
    ...kept,
    ...unknown(["updatedAt"]),
    ...moved,
    ...withPreviewTexts(Object.fromEntries(sent)),
    ...given(inputs),
  };
}

function given(inputs: CloudEndpointInputs): JsonObject {
  return { ...withPreviewTexts(inputs), ...notesOf(inputs) };
}

function addressOf({ url }: CloudEndpointInputs): JsonObject {
  const derived = hasUnknown(url) ? undefined : derivedFromUrl(url);
  return derived ?? unknown(derivedWithUrl);
}

const unknown = (names: string[]): JsonObject => Object.fromEntries(names.map((name) => [name, UNKNOWN]));

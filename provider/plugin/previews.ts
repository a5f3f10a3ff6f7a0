import { derivedFromUrl } from "../../sdk/traffic-policy/index";
import {
  clearedFields,
  decidedWithUrl,
  derivedWithUrl,
  documentsForPreview,
  endpointFields,
  type PreviewInputs,
} from "../endpoint/fields";
import {
  difference,
  inputsWithChoices,
  notesFromInputs,
  pick,
  type State,
  stateWithNewNotes,
  without,
} from "../endpoint/state";
import { hasUnknown, UNKNOWN } from "../pulumi/sentinels";

/*
 * The outputs of a preview. Only certain values are known: the program's inputs, fields that the contract derives from the
 * URL, and fields that an update does not touch. Everything else is unknown until the service has answered.
 */

/** The outputs of a previewed create. */
export function previewCreate(inputs: PreviewInputs): State {
  return {
    ...unknown(Object.keys(without(endpointFields, ["id", ...clearedFields]))),
    type: "cloud",
    ...addressFromInputs(inputs),
    ...documentsForPreview(inputs),
    ...notesFromInputs(inputs),
  };
}

/** The outputs of a previewed update. */
export function previewUpdate(olds: State, inputs: PreviewInputs): State {
  const { changed } = difference(olds, inputs);
  const same = stateWithNewNotes(olds, inputs);
  if (changed.length === 0) return same;

  const isMove = changed.includes("url");
  return {
    ...without(same, changed),
    ...unknown(["updatedAt", ...(isMove ? decidedWithUrl : [])]),
    ...(isMove && addressFromInputs(inputs)),
    ...documentsForPreview({ ...pick(inputsWithChoices(inputs, olds), changed), ...inputs }),
    ...notesFromInputs(inputs),
  };
}

function addressFromInputs({ url }: PreviewInputs): State {
  const derived = hasUnknown(url) ? undefined : derivedFromUrl(url);
  return derived ?? unknown(derivedWithUrl);
}

const unknown = (names: readonly string[]): State => Object.fromEntries(names.map((name) => [name, UNKNOWN]));

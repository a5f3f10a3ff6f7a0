import { derivedFromUrl } from "../data/index";
import {
  clearedInputs,
  documentsForPreview,
  endpointFields,
  type PreviewInputs,
  recomputedWithUrl,
  urlDerivedFields,
} from "../endpoint/fields";
import {
  difference,
  notesFromInputs,
  omit,
  pick,
  type State,
  stateWithNewNotes,
  withServiceDefaults,
} from "../endpoint/state";
import { hasUnknown, UNKNOWN } from "../pulumi/sentinels";

/*
 * The outputs of a preview. Only certain values are known: the program's inputs, fields that the contract derives from the
 * URL, and fields that an update does not touch. Everything else is unknown until the service has answered.
 */

/** The outputs of a previewed create. */
export function previewCreate(inputs: PreviewInputs): State {
  return {
    ...unknown(Object.keys(omit(endpointFields, ["id", ...clearedInputs]))),
    type: "cloud",
    ...addressFromInputs(inputs),
    ...documentsForPreview(inputs),
    ...notesFromInputs(inputs),
  };
}

/** The outputs of a previewed update. */
export function previewUpdate(state: State, inputs: PreviewInputs): State {
  const { changed } = difference(state, inputs);
  const same = stateWithNewNotes(state, inputs);
  if (changed.length === 0) return same;

  const isMove = changed.includes("url");
  return {
    ...omit(same, changed),
    ...unknown(["updatedAt", ...(isMove ? recomputedWithUrl : [])]),
    ...(isMove && addressFromInputs(inputs)),
    ...documentsForPreview({ ...pick(withServiceDefaults(inputs, state), changed), ...inputs }),
    ...notesFromInputs(inputs),
  };
}

function addressFromInputs({ url }: PreviewInputs): State {
  const derived = hasUnknown(url) ? undefined : derivedFromUrl(url);
  return derived ?? unknown(urlDerivedFields);
}

const unknown = (names: readonly string[]): State => Object.fromEntries(names.map((name) => [name, UNKNOWN]));

import { DiffResponse, PropertyDiff } from "@pulumi/pulumi/proto/provider_pb";
import type { JsonObject } from "../api/json";
import { type Change, changesBetween, pathText } from "../endpoint/documents";
import { documentFields } from "../endpoint/fields";

const { Kind } = PropertyDiff;

/** Each kind of change, for an update and for a replacement. */
const KINDS = {
  add: [Kind.ADD, Kind.ADD_REPLACE],
  delete: [Kind.DELETE, Kind.DELETE_REPLACE],
  update: [Kind.UPDATE, Kind.UPDATE_REPLACE],
} as const;

type DetailedChange = Change & { ofInputs: boolean };

/**
 * The changed places in terms of the inputs, because a document among the outputs is a text without paths. If the inputs are
 * equal and only the live document differs, the place is the whole document.
 */
export function placesOfInputs(
  places: DetailedChange[],
  olds: JsonObject,
  news: JsonObject,
): DetailedChange[] {
  const isIn = (name: string) => (place: DetailedChange) => place.path[0] === name;
  const within = documentFields
    .filter((name) => places.some(isIn(name)))
    .flatMap((name): DetailedChange[] => {
      const changes = changesBetween(olds[name], news[name], [name]);
      if (changes.length === 0) return [{ path: [name], kind: "update", ofInputs: false }];
      return changes.map((change) => ({ ...change, ofInputs: true }));
    });
  const isOther = (place: DetailedChange) => !documentFields.some((name) => isIn(name)(place));
  return [...places.filter(isOther), ...within];
}

/** A decision and its places, as the engine's reply. */
export function detailedDiff(
  places: DetailedChange[],
  decision: { changes: boolean; replaces: string[]; deleteBeforeReplace?: boolean },
): DiffResponse {
  const response = new DiffResponse();
  const { DIFF_SOME, DIFF_NONE } = DiffResponse.DiffChanges;
  response.setChanges(decision.changes ? DIFF_SOME : DIFF_NONE);
  response.setReplacesList(decision.replaces);
  response.setDeletebeforereplace(decision.deleteBeforeReplace ?? false);
  response.setHasdetaileddiff(true);
  response.setDiffsList([...new Set(places.map(({ path }) => String(path[0])))]);
  for (const { path, kind, ofInputs } of places) {
    const place = new PropertyDiff();
    place.setKind(KINDS[kind][decision.replaces.includes(String(path[0])) ? 1 : 0]);
    place.setInputdiff(ofInputs);
    response.getDetaileddiffMap().set(pathText(path), place);
  }
  return response;
}

import { DiffResponse, PropertyDiff } from "@pulumi/pulumi/proto/provider_pb";
import { type Change, pathText } from "../document";

const { Kind } = PropertyDiff;

/** Each kind of change, for an update and for a replacement. */
const KINDS = {
  add: [Kind.ADD, Kind.ADD_REPLACE],
  delete: [Kind.DELETE, Kind.DELETE_REPLACE],
  update: [Kind.UPDATE, Kind.UPDATE_REPLACE],
} as const;

/** A decision, and the places that differ, in the engine's terms. */
export function detailedDiff(
  places: (Change & { ofInputs: boolean })[],
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

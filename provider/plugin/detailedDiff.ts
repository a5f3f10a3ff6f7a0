import { DiffResponse, PropertyDiff } from "@pulumi/pulumi/proto/provider_pb";
import { type JsonObject, pathText } from "../data/index";
import { type Change, changesBetween } from "../endpoint/documents";
import { documentFields } from "../endpoint/fields";

const { Kind } = PropertyDiff;

/** Each kind of change, for an update and for a replacement. */
const KINDS = {
  add: [Kind.ADD, Kind.ADD_REPLACE],
  delete: [Kind.DELETE, Kind.DELETE_REPLACE],
  update: [Kind.UPDATE, Kind.UPDATE_REPLACE],
} as const;

type DetailedChange = Change & { isInputDiff: boolean };

const fieldOf = ({ path }: DetailedChange) => String(path[0]);

/**
 * The changes in terms of the inputs, because a document among the outputs is a text without paths. If the inputs are equal and
 * only the live document differs, the change is that of the whole document.
 */
export function changesOfInputs(
  changes: DetailedChange[],
  olds: JsonObject,
  news: JsonObject,
): DetailedChange[] {
  const documents = documentFields.filter((name) => changes.some((change) => fieldOf(change) === name));
  const within = documents.flatMap((name): DetailedChange[] => {
    const ofDocument = changesBetween(olds[name], news[name], [name]);
    if (ofDocument.length === 0) return [{ path: [name], kind: "update", isInputDiff: false }];
    return ofDocument.map((change) => ({ ...change, isInputDiff: true }));
  });
  return [...changes.filter((change) => !documents.some((name) => name === fieldOf(change))), ...within];
}

/** A decision and its changes, as the engine's reply. */
export function detailedDiff(
  changes: DetailedChange[],
  decision: { changes: boolean; replaces: string[]; deleteBeforeReplace?: boolean },
): DiffResponse {
  const { DIFF_SOME, DIFF_NONE } = DiffResponse.DiffChanges;
  const response = new DiffResponse()
    .setChanges(decision.changes ? DIFF_SOME : DIFF_NONE)
    .setReplacesList(decision.replaces)
    .setDeletebeforereplace(decision.deleteBeforeReplace ?? false)
    .setHasdetaileddiff(true)
    .setDiffsList([...new Set(changes.map(fieldOf))]);
  for (const change of changes) {
    const kind = KINDS[change.kind][decision.replaces.includes(fieldOf(change)) ? 1 : 0];
    const place = new PropertyDiff().setKind(kind).setInputdiff(change.isInputDiff);
    response.getDetaileddiffMap().set(pathText(change.path), place);
  }
  return response;
}

/* Texts, data and errors: the ground floor, open to every other folder. */

export { canonicalJson, isMapping, type JsonObject, jsonOf } from "./json";
export { missingSecret, missingValuesIn } from "./missingValues";
export { type Path, partsOf, pathText } from "./paths";
export {
  closestName,
  count,
  didYouMean,
  escaped,
  MIN_SECRET_LENGTH,
  oneLine,
} from "./text";
export { derivedFromUrl, normalizeUrl, urlProblem } from "./url";
export { messageOf, UsageError, UserError } from "./userError";

/* No declarations of the package have what follows. Some of it needs the types of libraries. */

/** @internal */
export {
  fromJson,
  fromYaml,
  looksLikeJson,
  MAX_DEPTH,
  MAX_LENGTH,
  MAX_PROBLEMS,
  numberedPhases,
  type Parsed,
  policyFromText,
  problemOfKeys,
  problemOfTags,
  problemsOfData,
  yaml,
} from "./parse";
/** @internal */
export { type PolicyReader, policyReader } from "./policyReader";
/** @internal */
export { type SourceDocument, sourceDocuments } from "./positions";

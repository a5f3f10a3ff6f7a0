/* Texts and data, for this repository. This folder lies below everything, and knows no policies. */

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
export { UsageError, UserError } from "./userError";

/* No declarations of the package have what follows. Some of it needs the types of libraries. */

/** @internal */
export {
  type CommandIo,
  EXIT,
  endIfUnread,
  inputBytes,
  messageOf,
  readText,
  STANDARD_STREAM,
  type Streams,
  type Terminal,
  writeResult,
  writeText,
} from "./io";
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
export { type SourceDocument, sourceDocuments } from "./positions";

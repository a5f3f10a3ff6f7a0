export { Account, type AccountEndpoint, type AgentEndpoint } from "./answer/account";
export type {
  Application,
  ConnectionOptions,
  FetchOptions,
  ServedRequest,
  ServeOptions,
} from "./answer/options";
export { EndpointReply, type ReceivedReply } from "./answer/reply";
export {
  ApplicationFailed,
  ConnectionClosed,
  RequestFailed,
  RequestNotSimulated,
  type TracedRule,
  traceText,
} from "./answer/trace";
export { UserError } from "./data/userError";
export type { ActionType, PhaseName } from "./policy/catalogue";
export { parsePolicy, type Warning, warningsOf } from "./policy/files";
export { mergeTrafficPolicy } from "./policy/merge";
export {
  type ActionConfig,
  type PlainValues,
  type PolicyAction,
  type PolicyRule,
  type RuleOptions,
  type Rules,
  rules,
  type TrafficPolicy,
  type UnlistedAction,
  unlistedAction,
  type ValueWrapper,
} from "./policy/rules";
export type { PolicyTarget } from "./policy/warnings";
export { type WebhookPlatform, type WebhookPlatformInfo, webhookPlatforms } from "./webhooks/platforms";
export type { SignedPlatform } from "./webhooks/schemes";
export {
  type ReceivedWebhook,
  signWebhook,
  type Verdict,
  verifyWebhook,
  type WebhookToSign,
} from "./webhooks/signatures";

/*
 * What follows is internal: pulumi-endpoints is built on it. No declarations of the package have it.
 */

/** @internal */
export { fetchReply } from "./answer/routing";
/** @internal */
export { serveRequest } from "./answer/serve";
/** @internal */
export { checkFiles } from "./command/check";
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
} from "./command/io";
/** @internal */
export { tryRequest } from "./command/request";
export type { JsonObject } from "./data/json";
/** @internal */
export { canonicalJson, isMapping, jsonOf, parseJson } from "./data/json";
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
} from "./data/parse";
/** @internal */
export { type Path, partsOf, pathText } from "./data/paths";
/** @internal */
export { type SourceDocument, sourceDocuments } from "./data/positions";
/** @internal */
export {
  closestName,
  count,
  didYouMean,
  escaped,
  MIN_SECRET_LENGTH,
  oneLine,
  PIPELINE_COMMAND,
} from "./data/text";
/** @internal */
export { derivedFromUrl, normalizeUrl, urlProblem } from "./data/url";
/** @internal */
export { UsageError } from "./data/userError";
/** @internal */
export {
  ACTION_PAGES,
  type ActionInfo,
  actions,
  type KeyInfo,
  type Keys,
  type PhaseInfo,
  phases,
  ruleKeys,
} from "./policy/catalogue";
/** @internal */
export { policyData } from "./policy/merge";
/** @internal */
export { missingSecret, missingValueIn, missingValuesIn } from "./policy/missingValues";
/** @internal */
export { expressionWarnings, type PolicyWarning, policyWarnings, warningText } from "./policy/warnings";
/** @internal */
export { platformInfo } from "./webhooks/platforms";
/** @internal */
export { secretProblem, vaultReference } from "./webhooks/secretForms";

/* Policies, for this repository. */

export {
  ACTION_PAGES,
  type ActionInfo,
  actions,
  type KeyInfo,
  type Keys,
  type PhaseInfo,
  phases,
  ruleKeys,
} from "./catalogue";
export { policyData, withVerifications } from "./merge";
export { rules, type UnlistedAction, unlistedAction } from "./rules";
export { expressionWarnings, type PolicyWarning, policyWarnings, warningText } from "./warnings";

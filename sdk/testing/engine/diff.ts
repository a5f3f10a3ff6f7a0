import { type Change, diffProps, parsePaths } from "./objectDiff";
import { pathContains } from "./paths";
import type { ProviderDiff } from "./provider";
import { type Props, withoutSecrets } from "./values";

/** What changes for a resource, and whether it has to be made anew. */
export interface Diff {
  changes: "none" | "some";
  replace: boolean;
  deleteBeforeReplace: boolean;
  changedKeys: string[];
  detailed: Change[] | undefined;
}

/** As `diffResource`: where the provider does not say, the inputs are compared, secret or not. */
export function resolveDiff(asked: ProviderDiff, olds: Props, news: Props): Diff {
  const { changes, replaces, deleteBeforeReplace } = asked;
  const said = { replace: replaces.length > 0, deleteBeforeReplace, changedKeys: [], detailed: undefined };
  if (changes !== "unknown") return { ...said, changes };
  const found = diffProps(withoutSecrets(olds), withoutSecrets(news));
  if (found.length === 0) return { ...said, changes: "none" };
  return {
    ...said,
    changes: "some",
    changedKeys: [...new Set(found.map(({ path }) => String(path[0])))],
    detailed: found,
  };
}

/** As `applyReplaceOnChanges`: it can only speak of changes that the engine found itself, and of a failed start. */
export function replaceOnChanges(diff: Diff, texts: string[], hasInitErrors: boolean): Diff {
  if (diff.changes !== "some" && !hasInitErrors) return diff;
  const paths = parsePaths(texts);
  const touched = (diff.detailed ?? []).some(({ path }) => paths.some((each) => pathContains(each, path)));
  if (hasInitErrors && paths.some((each) => pathContains(each, ["#initerror"])))
    return { ...diff, changes: "some", replace: true };
  return { ...diff, replace: diff.replace || touched };
}

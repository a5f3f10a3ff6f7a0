import { type DetailedDiff, fromChanges } from "./detailedDiff";
import { diffProps, parsePaths } from "./objectDiff";
import { parsePath, pathContains } from "./paths";
import type { ProviderDiff } from "./provider";
import { type Props, withoutSecrets } from "./values";

/** What changes for a resource, and whether it has to be made anew. */
export interface Diff {
  changes: "none" | "some";
  replaces: string[];
  deleteBeforeReplace: boolean;
  changedKeys: string[];
  detailed: DetailedDiff | undefined;
}

/** A change of which no more is known than that it asks for a replacement, or not. */
export function someDiff(replaces: string[] = []): Diff {
  return { changes: "some", replaces, deleteBeforeReplace: false, changedKeys: [], detailed: undefined };
}

/** As `DiffResult.Replace`. */
export function mustReplace({ replaces, detailed }: Diff): boolean {
  return replaces.length > 0 || (detailed ?? []).some(({ replace }) => replace);
}

/** As `diffResource`: where the provider does not say, the inputs are compared, secret or not. */
export function resolveDiff(asked: ProviderDiff, olds: Props, news: Props): Diff {
  const { changes } = asked;
  if (changes !== "unknown") return { ...asked, changes };
  const found = diffProps(withoutSecrets(olds), withoutSecrets(news));
  if (found.length === 0) return { ...asked, changes: "none" };
  return {
    ...asked,
    changes: "some",
    changedKeys: [...new Set(found.map(({ path }) => String(path[0])))],
    detailed: fromChanges(found),
  };
}

/** As `applyReplaceOnChanges`: it can only speak of changes that were named, and of a failed start. */
export function replaceOnChanges(diff: Diff, texts: string[], hasInitErrors: boolean): Diff {
  if (diff.changes !== "some" && !hasInitErrors) return diff;
  const paths = parsePaths(texts);
  const named = (path: (string | number)[]) => paths.some((each) => pathContains(each, path));
  const keys = diff.changedKeys.filter((key) => named(parsePath(key) ?? [key]));
  const unready = hasInitErrors && named(["#initerror"]);
  return {
    ...diff,
    changes: unready ? "some" : diff.changes,
    replaces: [...new Set([...diff.replaces, ...keys, ...(unready ? ["#initerror"] : [])])],
    detailed: diff.detailed?.map((each) => (named(each.path) ? { ...each, replace: true } : each)),
  };
}

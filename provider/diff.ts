import type { JsonObject } from "./api/json";
import { schemeDiffers } from "./api/url";
import { type Change, changesBetween, hasUnknown, sameData, sameSet, withData } from "./document";
import { areNotedIn } from "./markedSecrets";
import {
  type CloudEndpointInputs,
  givenInputs,
  isLeftToTheService,
  leftToTheService,
  type ManagedInput,
  managedInputs,
} from "./schema";
import { editedChoices, GIVEN_KEY, withChosen } from "./state";

interface Difference {
  /** The inputs whose live value is not what the program wants; these an update sends. */
  changed: ManagedInput[];
  /** Whether the endpoint has to be made anew: the URL's scheme cannot change in place. */
  replace: boolean;
  /** Whether the state's own notes are out of date: an update without a request puts them right. */
  stale: boolean;
}

/** Compares what the program wants with what the service last had. */
export function difference(state: JsonObject, news: CloudEndpointInputs): Difference {
  const olds = withData(state);
  const edited: ManagedInput[] = editedChoices(olds);
  const changed = managedInputs.filter((name) =>
    news[name] === undefined && isLeftToTheService(name)
      ? edited.includes(name)
      : !satisfied(name, olds[name], news[name]),
  );
  const given = givenInputs(news);
  const recorded = olds[GIVEN_KEY];
  return {
    changed,
    replace: changed.includes("url") && schemeDiffers(olds["url"], news.url),
    // A refresh puts an edited choice among the inputs; neither it nor `ignoreChanges`, which keeps it there, gave it.
    stale:
      (Array.isArray(recorded) &&
        leftToTheService.some(
          (name) => recorded.includes(name) !== given.includes(name) && !edited.includes(name),
        )) ||
      !areNotedIn(news, olds),
  };
}

/**
 * The places that `difference` is about, down into the documents: where the live value is not what the program wants,
 * and (`ofInputs`) where an input came or went that changes nothing on the service.
 */
export function changedPlaces(
  state: JsonObject,
  news: CloudEndpointInputs,
): (Change & { ofInputs: boolean })[] {
  const { changed, stale } = difference(state, news);
  const olds = withData(state);
  const wanted = withChosen(news, olds);
  const live = changed.flatMap((name) => {
    const before = olds[name] === "" ? undefined : olds[name];
    // The order of bindings means nothing, so an index in them would not either.
    const whole = name === "bindings" && before !== undefined && wanted[name] !== undefined;
    return whole ? [{ path: [name], kind: "update" as const }] : changesBetween(before, wanted[name], [name]);
  });
  const given = givenInputs(news);
  const recorded: unknown[] = stale && Array.isArray(olds[GIVEN_KEY]) ? olds[GIVEN_KEY] : given;
  const noted = leftToTheService
    .filter((name) => !changed.includes(name) && recorded.includes(name) !== given.includes(name))
    .map((name): Change => ({ path: [name], kind: given.includes(name) ? "add" : "delete" }));
  return [
    ...live.map((change) => ({ ...change, ofInputs: false })),
    ...noted.map((change) => ({ ...change, ofInputs: true })),
  ];
}

function satisfied(name: ManagedInput, live: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return live === undefined || live === "";
  if (hasUnknown(wanted)) return false;
  if (name === "bindings") return sameSet(live, wanted);
  if (name === "poolingEnabled") return (live === true) === wanted;
  // A mark alone is no metadata, so an empty object with a mark comes back as none.
  if (name === "metadata" && live === undefined) return sameData(wanted, {});
  return live !== undefined && sameData(live, wanted);
}

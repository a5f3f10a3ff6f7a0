import type { JsonObject } from "./api/json";
import { schemeDiffers } from "./api/url";
import { type Change, changesBetween } from "./document";
import {
  type CloudEndpointInputs,
  givenInputs,
  isLeftToTheService,
  isSatisfied,
  isSet,
  leftToTheService,
  type ManagedInput,
  managedInputs,
  withData,
} from "./fields";
import { notedFields } from "./markedSecrets";
import { editedChoices, GIVEN_KEY, withChosen } from "./state";

interface Difference {
  /** The inputs whose live value differs from the program's. An update sends them. */
  changed: ManagedInput[];
  /** Whether the endpoint must be replaced: the scheme of a URL cannot change in place. */
  replace: boolean;
  /** Whether the state's notes are out of date. An update corrects them without a request. */
  stale: boolean;
}

/** Compares the program's inputs with the last known values of the service. */
export function difference(state: JsonObject, news: CloudEndpointInputs): Difference {
  const olds = withData(state);
  const edited: ManagedInput[] = editedChoices(olds);
  const changed = managedInputs.filter((name) =>
    news[name] === undefined && isLeftToTheService(name)
      ? edited.includes(name)
      : !isSatisfied(name, olds[name], news[name]),
  );
  const given = givenInputs(news);
  const recorded = olds[GIVEN_KEY];
  return {
    changed,
    replace: changed.includes("url") && schemeDiffers(olds["url"], news.url),
    // A refresh adds an edited choice to the inputs, and `ignoreChanges` keeps it there, but the program did not give it.
    stale:
      (Array.isArray(recorded) &&
        leftToTheService.some(
          (name) => recorded.includes(name) !== given.includes(name) && !edited.includes(name),
        )) ||
      notedFields(news).some((field) => !notedFields(olds).includes(field)),
  };
}

/**
 * The places that differ, within documents too. A change with `ofInputs` is an input that was added or removed without a
 * change on the service.
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
    // The order of bindings has no meaning, so an index would have none.
    const whole = isSet(name) && before !== undefined && wanted[name] !== undefined;
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

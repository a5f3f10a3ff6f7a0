import { MAX_PAGE } from "./routes";
import { type Fault, matches, type Target } from "./script";
import { completeSeed } from "./seeds";

/* Faults of the list. */

const realReply = { afterCommit: true } as const;

/** A page that names itself as the next page. Only once per page, so that a client that follows the link does not loop. */
export function pageRepeated(target: Target): ReturnType<Fault> {
  const { record, query, repeated, store } = target;
  const page = query.toString();
  if (!matches("list", record) || repeated.has(page)) return undefined;
  return () => {
    repeated.add(page);
    const uri = `${store.baseUrl}/endpoints?${page}`;
    const body = (real: object) => ("endpoints" in real ? { ...real, next_page_uri: uri } : real);
    return { reply: { ...realReply, body } };
  };
}

/** A page that starts one or more items too early. It has at least one new item, so that the list ends. */
export function pageOverlap(target: Target): ReturnType<Fault> {
  const { record, query, random, store, pageSize } = target;
  const before = query.get("before_id");
  if (!matches("list", record) || before === null) return undefined;
  const all = store.newestFirst() ?? [];
  const correctStart = all.length - (store.newestFirst(before) ?? all).length;
  const size = Math.min(Number(query.get("limit") ?? MAX_PAGE), pageSize);
  const most = Math.min(correctStart, size - 1);
  if (!(most >= 1)) return undefined;
  return () => {
    const first = correctStart - 1 - random.below(most);
    const earlier = new URLSearchParams(query);
    const last = all[first - 1];
    if (last) earlier.set("before_id", last.id);
    else earlier.delete("before_id");
    return { reply: realReply, query: earlier };
  };
}

/**
 * An agent's endpoint that appears or disappears after the page was read. Both are equally likely if the account has one.
 * Cloud endpoints do not change.
 */
export function itemMoved({ record, random, store }: Target): ReturnType<Fault> {
  if (!matches("list", record)) return undefined;
  return () => {
    const disappears = random.next() < 0.5;
    const choice = random.next();
    const after = () => {
      const candidates = (store.newestFirst() ?? []).filter(({ type }) => type === "ephemeral");
      const removed = disappears ? candidates[Math.floor(choice * candidates.length)] : undefined;
      const label = `agent-${Math.floor(choice * 2 ** 32).toString(36)}`;
      if (removed) store.delete(removed.id);
      else store.insert(completeSeed({ type: "ephemeral", url: `https://${label}.example.app` }, store));
    };
    return { reply: { ...realReply, after } };
  };
}

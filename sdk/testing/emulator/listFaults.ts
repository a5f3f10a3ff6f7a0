import { MAX_PAGE } from "./routes";
import type { Fault, Handling, Target } from "./script";
import { completeSeed } from "./seeds";

/* Faults of the list. */

const realReply = { afterCommit: true } as const;
const isList = ({ record }: Target) => record.method === "GET" && record.path === "/endpoints";

/** A page that names itself as the next page. Only once per page, so that a client that follows the link does not loop. */
export function pageRepeated(target: Target): ReturnType<Fault> {
  const { query, repeated, store } = target;
  const asked = query.toString();
  if (!isList(target) || repeated.has(asked)) return undefined;
  return () => {
    repeated.add(asked);
    const itself = `${store.baseUrl}/endpoints?${asked}`;
    const body = (real: object) => ("endpoints" in real ? { ...real, next_page_uri: itself } : real);
    return { reply: { ...realReply, body } };
  };
}

/** A page that starts one or more items too early. It has at least one new item, so that the list ends. */
export function pageOverlap(target: Target): ReturnType<Fault> {
  const { query, random, store, pageSize } = target;
  const before = query.get("before_id");
  if (!isList(target) || before === null) return undefined;
  const all = store.newestFirst() ?? [];
  const right = all.length - (store.newestFirst(before) ?? all).length;
  const size = Math.min(Number(query.get("limit") ?? MAX_PAGE), pageSize);
  const most = Math.min(right, size - 1);
  if (!(most >= 1)) return undefined;
  return () => {
    const first = right - 1 - random.below(most);
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
export function itemMoved(target: Target): ReturnType<Fault> {
  return isList(target) ? () => moving(target) : undefined;
}

function moving({ random, store }: Target): Handling {
  const goes = random.next() < 0.5;
  const choice = random.next();
  return {
    reply: {
      ...realReply,
      after: () => {
        const theirs = (store.newestFirst() ?? []).filter(({ type }) => type === "ephemeral");
        const gone = goes ? theirs[Math.floor(choice * theirs.length)] : undefined;
        const label = `agent-${Math.floor(choice * 2 ** 32).toString(36)}`;
        if (gone) store.delete(gone.id);
        else store.insert(completeSeed({ type: "ephemeral", url: `https://${label}.example.app` }, store));
      },
    },
  };
}

import { MAX_PAGE } from "./routes";
import type { Kind, Plan, Target } from "./script";
import { endpointOf } from "./store";

/* Faults that only the list can have: what a client gets to see when it reads pages that others write to. */

const asItIs = { afterCommit: true } as const;
const isList = ({ record }: Target) => record.method === "GET" && record.path === "/endpoints";

/** Once for each page, or a client that goes where it is sent would never get out. */
export function pageRepeated(target: Target): ReturnType<Kind> {
  const { query, repeated, store } = target;
  const asked = query.toString();
  if (!isList(target) || repeated.has(asked)) return undefined;
  return () => {
    repeated.add(asked);
    const itself = `${store.baseUrl}/endpoints?${asked}`;
    const body = (real: object) => ("endpoints" in real ? { ...real, next_page_uri: itself } : real);
    return { reply: { ...asItIs, body } };
  };
}

/** The page is as long as it would be, and it always ends later than the one before it, so that the list does end. */
export function pageOverlap(target: Target): ReturnType<Kind> {
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
    return { reply: asItIs, query: earlier };
  };
}

/** Comes and goes are as likely, as long as there is an agent's endpoint to go. */
export function itemMoved(target: Target): ReturnType<Kind> {
  return isList(target) ? () => moving(target) : undefined;
}

function moving({ random, store }: Target): Plan {
  const goes = random.next() < 0.5;
  const choice = random.next();
  return {
    reply: {
      ...asItIs,
      after: () => {
        const theirs = (store.newestFirst() ?? []).filter(({ type }) => type === "ephemeral");
        const gone = goes ? theirs[Math.floor(choice * theirs.length)] : undefined;
        const label = `agent-${Math.floor(choice * 2 ** 32).toString(36)}`;
        if (gone) store.delete(gone.id);
        else store.insert(endpointOf({ type: "ephemeral", url: `https://${label}.example.app` }, store));
      },
    },
  };
}

import { isNotFound } from "../../../provider/api/errors";
import type { LiveEndpoint } from "../../../provider/api/items";
import type { Listing } from "../../../provider/listing";
import { count, tell } from "../command";

/** Which of an endpoint's inputs a service may leave out of its list. The rest follow from the type. */
const MAY_BE_LEFT_OUT = ["trafficPolicy", "description", "metadata"] as const;

/**
 * The endpoints with all their inputs. An input that no item of the list shows may be one that the list leaves out, as
 * it leaves out other fields: only reading by id can tell, and a program that lacked it would clear it.
 */
export async function completed(account: Listing, listed: readonly LiveEndpoint[]): Promise<LiveEndpoint[]> {
  const doubtful = MAY_BE_LEFT_OUT.filter((name) => !listed.some((live) => live[name] !== undefined));
  if (listed.length === 0 || doubtful.length === 0) return [...listed];
  tell(
    `No item of the list shows ${doubtful.join(" or ")}: reading ${count(listed.length, "endpoint")} one by one`,
  );
  const read = await Promise.all(
    listed.map(({ id }) =>
      account.api.get(id).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        tell(`Left out: ${id}, which is gone in the meantime`);
        return undefined;
      }),
    ),
  );
  return read.filter((live) => live !== undefined);
}

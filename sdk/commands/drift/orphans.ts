import { differenceOnAdoption } from "../../../provider/endpoint/adopt";
import { engineInputs } from "../../../provider/endpoint/inputs";
import { readEndpoint } from "../../../provider/endpoint/readEndpoint";
import type { Endpoint } from "../../../provider/service/contract";
import type { EndpointsApi } from "../../../provider/service/endpoints";
import { urlOf } from "../../../provider/service/url";
import { normalizeUrl } from "../../traffic-policy/data/index";
import type { ManagedEndpoint } from "../userProject";
import { asUnchecked, type ScannedAccount } from "./accounts";
import type { AccountReport, PendingCreateReport, Unchecked } from "./report";

/* The search for endpoints that a killed run may have left: they have the URL of a pending create, and are in no state. */

/** A pending create before its URL was looked up. */
export interface ScannedCreate {
  report: PendingCreateReport;
  /** The endpoint that was to be created. */
  wanted: ManagedEndpoint;
  /** Undefined if its old endpoint or its account could not be checked. */
  account: ScannedAccount | undefined;
}

/**
 * The reports of pending creates, with what is on their URLs.
 *
 * @param reports The reports of the accounts. A partial report cannot tell which endpoints are in no state.
 */
export async function withFoundEndpoints(
  creates: readonly ScannedCreate[],
  reports: ReadonlyMap<ScannedAccount, AccountReport>,
): Promise<{ pendingCreates: PendingCreateReport[]; unchecked: Unchecked[] }> {
  const unchecked: Unchecked[] = [];
  const reads = new Map<string, Promise<Endpoint>>();
  /** Reads an endpoint once for all creates of a pool. */
  const read = (api: EndpointsApi, id: string) => {
    const live = reads.get(id) ?? readEndpoint(api, id, {});
    reads.set(id, live);
    return live;
  };
  const pendingCreates = creates.map(async ({ report, wanted, account }): Promise<PendingCreateReport> => {
    const ofAccount = account && reports.get(account);
    if (!account?.api || !account.cloud || !ofAccount || ofAccount.unchecked.length > 0) return report;
    const { api, cloud } = account;
    const ignoredIds = new Set(ofAccount.ignored.map(({ id }) => id));
    const unownedIds = new Set([...ignoredIds, ...ofAccount.unmanaged.map(({ id }) => id)]);
    const url = normalizeUrl(String(wanted.inputs["url"]));
    const atUrl = cloud.filter((live) => urlOf(live) === url && live.id !== report.replaces?.id);
    const managed = atUrl.flatMap(({ id }) => (unownedIds.has(id) ? [] : [id]));
    const compare = async ({ id }: { id: string }) => {
      const live = await read(api, id);
      const equal = differenceOnAdoption(live, engineInputs(wanted.inputs)).length === 0;
      return { id, equal, ...(ignoredIds.has(id) && { ignored: true }) };
    };
    try {
      const found = await Promise.all(atUrl.filter(({ id }) => unownedIds.has(id)).map(compare));
      return { ...report, found, ...(managed.length > 0 && { managed }) };
    } catch (error) {
      unchecked.push(asUnchecked(`what is on the URL of ${report.name}`, error));
      return report;
    }
  });
  return { pendingCreates: await Promise.all(pendingCreates), unchecked };
}

import type { Log } from "../service/client";
import type { Endpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import type { Consent } from "../service/settings";
import { consentAlreadyUsed, consentForAnother, notAdoptable } from "./errors";
import { findTwice } from "./gone";

/** What `ENDPOINTS_ADOPT` means in this process: whose stack it is for, what it names, and what of that is in the state already. */
export class RunConsent {
  /** Project and stack, `shop/prod`, as the checks of resources name them. */
  stack: string | undefined;
  private endpoints: Promise<Endpoint[]> | undefined;
  private isRefused = false;
  private hasWarned = false;

  constructor(private readonly log: Log) {}

  /** @throws UserError if the variable is for another stack. Only the first one is in full. */
  assertOwn(consent: Consent | undefined): void {
    if (!consent || consent.stack === this.stack) return;
    const isFirst = !this.isRefused;
    this.isRefused = true;
    throw consentForAnother(consent.stack, this.stack, { isFirst });
  }

  /** Warns once of an endpoint of the state that the variable names: one that was left behind takes nothing else. */
  warnOf(id: string, consent: Consent | undefined): void {
    if (this.hasWarned || !consent?.ids.includes(id)) return;
    this.hasWarned = true;
    this.log.warn(consentAlreadyUsed(id));
  }

  /** The cloud endpoints that the variable names. They are read once. */
  read(api: EndpointsApi): Promise<Endpoint[]> {
    this.endpoints ??= this.readAll(api).catch((error: unknown) => {
      this.endpoints = undefined;
      throw error;
    });
    return this.endpoints;
  }

  private async readAll(api: EndpointsApi): Promise<Endpoint[]> {
    const { ids = [] } = api.http.settings.consent ?? {};
    const all = await Promise.all(ids.map(async (id) => ({ id, live: await findTwice(api, id) })));
    return all.flatMap(({ id, live }) => {
      if (live?.type === "cloud") return [live];
      this.log.warn(notAdoptable(id, live?.type));
      return [];
    });
  }
}

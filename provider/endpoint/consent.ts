import type { Log } from "../service/client";
import type { Endpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import type { Consent } from "../service/settings";
import { consentAlreadyUsed, consentForAnother, notAdoptable } from "./errors";
import { findTwice } from "./gone";

/** The consent of `ENDPOINTS_ADOPT` in this process: for which stack it is, and which endpoints it names. */
export class RunConsent {
  /** Project and stack, `shop/prod`, as the checks of resources name them. */
  stack: string | undefined;
  private endpoints: Promise<Endpoint[]> | undefined;
  private wasRefused = false;
  private hasWarned = false;

  constructor(
    private readonly log: Log,
    private readonly variable: () => Consent | undefined,
  ) {}

  /** The ids that the variable names, whichever stack it is for. */
  get ids(): readonly string[] {
    return this.variable()?.ids ?? [];
  }

  /** @throws UserError if the variable is for another stack. Only the first error of a process is in full. */
  assertForThisStack(): void {
    const variable = this.variable();
    if (!variable || variable.stack === this.stack) return;
    const isFirst = !this.wasRefused;
    this.wasRefused = true;
    throw consentForAnother(variable.stack, this.stack, { isFirst });
  }

  /** Warns once if the variable names an endpoint that is in the state already. */
  warnIfInState(id: string): void {
    if (this.hasWarned || !this.ids.includes(id)) return;
    this.hasWarned = true;
    this.log.warn(consentAlreadyUsed(id));
  }

  /** The cloud endpoints that the variable names. They are read once. */
  readEndpoints(api: EndpointsApi): Promise<Endpoint[]> {
    this.endpoints ??= this.readAll(api).catch((error: unknown) => {
      this.endpoints = undefined;
      throw error;
    });
    return this.endpoints;
  }

  private async readAll(api: EndpointsApi): Promise<Endpoint[]> {
    const found = this.ids.map(async (id) => ({ id, live: await findTwice(api, id) }));
    const all = await Promise.all(found);
    return all.flatMap(({ id, live }) => {
      if (live?.type === "cloud") return [live];
      this.log.warn(notAdoptable(id, live?.type));
      return [];
    });
  }
}

import type { RecordedRequest } from "../types";
import type { Random } from "./random";
import type { Plan } from "./script";
import type { Store } from "./store";

/** A request, and what a fault may take into account. */
export interface Target {
  record: RecordedRequest;
  query: URLSearchParams;
  /** The endpoints of the account that was asked. */
  store: Store;
  pageSize: number;
  operationId: string;
  random: Random;
  /** Queries of pages that have been given as their own next page. */
  repeated: Set<string>;
  /** The ids of what rivals created. */
  rivals: string[];
}

/** Undefined where the fault does not apply to the request. Whether it does must not depend on chance. */
export type Kind = (target: Target) => (() => Plan) | undefined;

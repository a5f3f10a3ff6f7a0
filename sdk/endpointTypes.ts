import { policyFromText } from "../provider/document";
import type { Endpoint, Ref } from "../provider/schema";

/*
 * Endpoints as the data sources give them: one type for each of the service's, told apart by `type`. Which fields a type
 * has is the contract's rule and the public service's documented examples; every other field is optional.
 */

type Present<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };

/** What only one of the types has. */
type OwnField =
  | "tunnel"
  | "tunnelSession"
  | "principal"
  | "principalId"
  | "name"
  | "upstreamUrl"
  | "upstreamProto"
  | "edge"
  | "type";
type Common = Omit<Endpoint, OwnField>;

/** An endpoint that an agent opened, served by its tunnel for as long as the agent runs. */
export interface EphemeralEndpoint
  extends Present<Common, "publicUrl" | "proto">,
    Pick<
      Endpoint,
      "tunnel" | "tunnelSession" | "principal" | "principalId" | "name" | "upstreamUrl" | "upstreamProto"
    > {
  type: "ephemeral";
}

/** An endpoint that an edge serves. It has no `url`: use `publicUrl`. */
export interface EdgeEndpoint extends Omit<Present<Common, "publicUrl" | "proto">, "url"> {
  type: "edge";
  /** The edge that serves it, `edghts_…`, `edgtls_…` or `edgtcp_…`. */
  edge?: Ref | undefined;
}

/** A cloud endpoint, kept by the service itself. The one type that `CloudEndpoint` manages. */
export interface CloudEndpointInfo
  extends Present<
    Common,
    "url" | "publicUrl" | "proto" | "hostport" | "uri" | "bindings" | "createdAt" | "updatedAt"
  > {
  type: "cloud";
  /** Shown by the public service only when the endpoint is read by id. */
  edge?: Ref | undefined;
}

/**
 * An endpoint of any type; `endpoint.type === "cloud"` narrows it. A type or a field that the contract does not name is
 * kept as it came, beside what is declared here.
 */
export type AnyEndpoint = EphemeralEndpoint | EdgeEndpoint | CloudEndpointInfo;

/** What JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/**
 * Reads an endpoint's `metadata` or `trafficPolicy`, which the service gives as text. A policy can be YAML too.
 *
 * @param parse Turns the value into a type of your own, and throws where it cannot: a zod schema's `parse`, say.
 * @returns Undefined for an endpoint without that field.
 * @throws Error for text that holds no data. The message does not quote it, since it may hold a secret.
 */
export function readJson(text: string | undefined): JsonValue | undefined;
export function readJson<T>(text: string | undefined, parse: (value: unknown) => T): T | undefined;
export function readJson(
  text: string | undefined,
  parse: (value: unknown) => unknown = (value) => value,
): unknown {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const parsed = policyFromText(text);
    if ("problem" in parsed) throw new Error(`this text ${parsed.problem.reason}`);
    value = parsed.data;
  }
  return parse(value);
}

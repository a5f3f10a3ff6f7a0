import * as grpc from "@grpc/grpc-js";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { parsePath } from "../../../provider/endpoint/documents";
import { nameOf, type ResourceState, typeOf } from "./checkpoint";
import type { Props, toStruct } from "./properties";
import type { Diff, Kind } from "./propertyDiff";

/* The interface of providers in the engine, and its messages and errors in Pulumi's protocol. */

/**
 * The provider of a resource: `Plugin`, the client of a provider process, or `Providers` for provider resources.
 */
export interface Provider {
  check(urn: string, olds: Props, news: Props): Promise<Checked>;
  diff(old: ResourceState, news: Props, ignoreChanges: string[]): Promise<Diff>;
  create(next: ResourceState, preview: boolean): Promise<{ id: string; outputs: Props }>;
  update(old: ResourceState, next: ResourceState, preview: boolean): Promise<Props>;
  read(resource: ToRead): Promise<Found>;
  delete(old: ResourceState): Promise<void>;
}

export interface CheckFailure {
  property: string;
  reason: string;
}

export interface Checked {
  inputs: Props;
  failures: CheckFailure[];
}

/** For an import, only the id is known. */
export type ToRead = Pick<ResourceState, "urn" | "id"> & { inputs?: Props; outputs?: Props | undefined };

/** The result of a read. */
export interface Found {
  /** Empty if the resource does not exist. */
  id: string;
  /** Undefined if the resource does not exist. */
  outputs: Props | undefined;
  /** Undefined if they have not changed. */
  inputs: Props | undefined;
}

/** Messages contain complete states, which can be larger than gRPC's default limit of four megabytes. */
export const CHANNEL = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };

/** A resource exists but is not ready. */
export class InitFailed extends Error {
  override readonly name = "InitFailed";
  constructor(
    readonly id: string,
    readonly outputs: Props,
    readonly reasons: string[],
  ) {
    const errors = `${reasons.length} error${reasons.length === 1 ? "" : "s"} occurred`;
    super(`${errors}:\n${reasons.map((reason) => `\t* ${reason}`).join("\n")}\n\n`);
  }
}

export type Answer<T> = (error: grpc.ServiceError | null, response: T) => void;

/** A provider returned an error. */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
  constructor(override readonly cause: grpc.ServiceError) {
    super(cause.details);
  }
}

export function call<T>(send: (answer: Answer<T>) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    send((error, response) => (error === null ? resolve(response) : reject(new CallFailed(error))));
  });
}

/** Undefined if the provider does not implement the method. */
export async function optional<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CallFailed && error.cause.code === grpc.status.UNIMPLEMENTED) return undefined;
    throw error;
  }
}

/** Reads the resource that exists but is not ready from an error. */
export function initFailure(error: grpc.ServiceError): pb.ErrorResourceInitFailed | undefined {
  const [packed] = error.metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(packed)) return undefined;
  const details = Status.deserializeBinary(packed).getDetailsList();
  const read = pb.ErrorResourceInitFailed.deserializeBinary;
  const found = details.map((detail) => detail.unpack(read, "pulumirpc.ErrorResourceInitFailed"));
  return found.find((failed) => failed !== null) ?? undefined;
}

interface AboutResource {
  setUrn(urn: string): unknown;
  setName(name: string): unknown;
  setType(type: string): unknown;
}

/** Sets the URN, the name and the type of a request. */
export function about<R extends AboutResource>(request: R, urn: string): R {
  request.setUrn(urn);
  request.setName(nameOf(urn));
  request.setType(typeOf(urn));
  return request;
}

export function diffRequest(
  { urn, id, inputs, outputs = {} }: ResourceState,
  news: Props,
  ignoreChanges: string[],
  struct: typeof toStruct,
): pb.DiffRequest {
  return about(new pb.DiffRequest(), urn)
    .setId(id)
    .setOldInputs(struct(inputs))
    .setOlds(struct(outputs))
    .setNews(struct(news))
    .setIgnorechangesList(ignoreChanges);
}

const { ADD, ADD_REPLACE, DELETE, DELETE_REPLACE, UPDATE_REPLACE } = pb.PropertyDiff.Kind;

export function diffOf(response: pb.DiffResponse): Diff {
  const detailed = [...(response.getDetaileddiffMap().entries() as Iterable<[string, pb.PropertyDiff]>)];
  return {
    changes: (["unknown", "none", "some"] as const)[response.getChanges()],
    replaces: response.getReplacesList(),
    changedKeys: response.getDiffsList(),
    deleteBeforeReplace: response.getDeletebeforereplace(),
    detailed: response.getHasdetaileddiff()
      ? detailed.map(([path, diff]) => ({
          path: parsePath(path) ?? [path],
          kind: kindOf(diff.getKind()),
          replace: [ADD_REPLACE, DELETE_REPLACE, UPDATE_REPLACE].some((kind) => kind === diff.getKind()),
          inputDiff: diff.getInputdiff(),
        }))
      : undefined,
  };
}

function kindOf(kind: pb.PropertyDiff.Kind): Kind {
  if (kind === ADD || kind === ADD_REPLACE) return "add";
  return kind === DELETE || kind === DELETE_REPLACE ? "delete" : "update";
}

export const failuresOf = (response: { getFailuresList(): pb.CheckFailure[] }): CheckFailure[] =>
  response.getFailuresList().map((each) => each.toObject());

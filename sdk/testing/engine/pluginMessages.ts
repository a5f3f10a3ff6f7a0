import * as grpc from "@grpc/grpc-js";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { pathOf } from "./detailedDiff";
import { type CheckFailure, type DiffSubject, InitFailed, type ProviderDiff } from "./provider";
import { nameOf, typeOf } from "./resourceState";
import { isProps, markSecrets, type Props } from "./values";
import { fromWire, type Keep, propsToWire } from "./wire";

/** Messages hold whole states, which outgrow the four megabytes that gRPC allows by default. */
export const CHANNEL = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };

export type Answer<T> = (error: grpc.ServiceError | null, response: T) => void;

/** Names the resource that a request is about. */
export function identify(
  request: { setUrn(urn: string): unknown; setName(name: string): unknown; setType(type: string): unknown },
  urn: string,
): void {
  request.setUrn(urn);
  request.setName(nameOf(urn));
  request.setType(typeOf(urn));
}

export function diffRequest(
  { urn, id, inputs, outputs, ignoreChanges }: DiffSubject,
  news: Props,
  keep: Keep,
): pb.DiffRequest {
  const request = new pb.DiffRequest();
  identify(request, urn);
  request.setId(id);
  request.setOldInputs(struct(inputs, keep));
  request.setOlds(struct(outputs, keep));
  request.setNews(struct(news, keep));
  request.setIgnorechangesList(ignoreChanges);
  return request;
}

export function diffOf(response: pb.DiffResponse): ProviderDiff {
  const { DIFF_NONE, DIFF_SOME } = pb.DiffResponse.DiffChanges;
  const changes = response.getChanges();
  const detailed = [...(response.getDetaileddiffMap().entries() as Iterable<[string, pb.PropertyDiff]>)];
  return {
    changes: changes === DIFF_SOME ? "some" : changes === DIFF_NONE ? "none" : "unknown",
    replaces: response.getReplacesList(),
    changedKeys: response.getDiffsList(),
    deleteBeforeReplace: response.getDeletebeforereplace(),
    detailed: response.getHasdetaileddiff()
      ? detailed.map(([path, diff]) => ({
          path: pathOf(path),
          ...kindOf(diff),
          inputDiff: diff.getInputdiff(),
        }))
      : undefined,
  };
}

/** As `decodeDetailedDiff`. */
function kindOf(diff: pb.PropertyDiff) {
  const { ADD, ADD_REPLACE, DELETE, DELETE_REPLACE, UPDATE_REPLACE } = pb.PropertyDiff.Kind;
  const kind = diff.getKind();
  return {
    kind:
      kind === ADD || kind === ADD_REPLACE
        ? ("add" as const)
        : kind === DELETE || kind === DELETE_REPLACE
          ? ("delete" as const)
          : ("update" as const),
    replace: kind === ADD_REPLACE || kind === DELETE_REPLACE || kind === UPDATE_REPLACE,
  };
}

export function failuresOf(response: { getFailuresList(): pb.CheckFailure[] }): CheckFailure[] {
  return response
    .getFailuresList()
    .map((each) => ({ property: each.getProperty(), reason: each.getReason() }));
}

type Plain = Parameters<typeof Struct.fromJavaScript>[0];

export function struct(props: Props, keep: Keep): Struct {
  return Struct.fromJavaScript(propsToWire(props, keep) as Plain);
}

export function read(struct: Struct | undefined): Props {
  const value = struct === undefined ? {} : fromWire(struct.toJavaScript());
  return isProps(value) ? value : {};
}

export function marked(outs: Props, ins: Props): Props {
  markSecrets(outs, ins);
  return outs;
}

/** The status of an error, where it is one of the protocol's. */
class CallFailed extends Error {
  override readonly name = "CallFailed";
  constructor(
    message: string,
    readonly code: grpc.status,
  ) {
    super(message);
  }
}

export function call<T>(send: (answer: Answer<T>) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    send((error, response) =>
      error === null ? resolve(response) : reject(new CallFailed(error.details, error.code)),
    );
  });
}

/** Undefined where the plugin does not have the method. */
export async function optional<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CallFailed && error.code === grpc.status.UNIMPLEMENTED) return undefined;
    throw error;
  }
}

export function initFailure(
  error: grpc.ServiceError,
  remember: (outs: Props) => Props,
): InitFailed | undefined {
  const [packed] = error.metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(packed)) return undefined;
  for (const detail of Status.deserializeBinary(packed).getDetailsList()) {
    const failed = detail.unpack(
      pb.ErrorResourceInitFailed.deserializeBinary,
      "pulumirpc.ErrorResourceInitFailed",
    );
    if (failed === null) continue;
    const inputs = failed.getInputs();
    return new InitFailed(
      failed.getId(),
      remember(read(failed.getProperties())),
      inputs && remember(read(inputs)),
      failed.getReasonsList(),
    );
  }
  return undefined;
}

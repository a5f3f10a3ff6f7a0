import * as pulumi from "@pulumi/pulumi";
import { PROVIDER_KEY } from "../provider/check";
import { hasUnknown } from "../provider/document";
import {
  type CloudEndpointInputs,
  type CloudEndpointWritten,
  type Endpoint,
  endpointFields,
} from "../provider/schema";
import { checkHere } from "./preflight";

/** The type under which states hold these resources. The engine runs its `__provider` string in a Node process. */
const TYPE = "pulumi-nodejs:dynamic/endpoints:CloudEndpoint";

/**
 * What every state holds instead of a serialized provider. A few bytes, the same in every release, so that upgrades
 * show no change and old states always run the code that is installed.
 */
const PROVIDER = 'exports.handler = () => require("pulumi-endpoints/provider");';

/** The inputs of a cloud endpoint. */
export type CloudEndpointArgs = { [K in keyof CloudEndpointWritten]: pulumi.Input<CloudEndpointWritten[K]> };

type Documents = Pick<CloudEndpointInputs, "trafficPolicy" | "metadata">;
/** Fields that every cloud endpoint has (contract, rules of the endpoint's fields). */
type Always =
  | "type"
  | "url"
  | "publicUrl"
  | "proto"
  | "hostport"
  | "uri"
  | "bindings"
  | "createdAt"
  | "updatedAt";
type Fields = Omit<Endpoint, "id" | Always | keyof Documents> & Required<Pick<Endpoint, Always>> & Documents;

/** The outputs of a cloud endpoint: the service's fields. One that does not apply is undefined. */
export type CloudEndpointOutputs = { readonly [K in keyof Fields]-?: pulumi.Output<Fields[K]> };

export interface CloudEndpoint extends CloudEndpointOutputs {}

/**
 * A cloud endpoint: a publicly reachable address with a traffic policy, kept by the service.
 *
 * ```ts
 * const shop = new CloudEndpoint("shop", {
 *   url: "https://shop.example.com",
 *   trafficPolicy: { on_http_request: [{ actions: [{ type: "deny", config: { status_code: 404 } }] }] },
 * });
 * export const url = shop.publicUrl;
 * ```
 *
 * Mistakes in the inputs are reported at the preview, those of all resources at once. Unless told otherwise the
 * resource has the option `deleteBeforeReplace`, since a URL is one endpoint's at a time.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class sets the outputs, from the properties given to it
export class CloudEndpoint extends pulumi.CustomResource {
  /**
   * Reads a cloud endpoint that this stack does not manage.
   *
   * @param id The endpoint's id, `ep_…`. One that does not exist, or is of another type, fails the program.
   */
  static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    options?: pulumi.CustomResourceOptions,
  ): CloudEndpoint {
    return new CloudEndpoint(name, undefined, { ...options, id });
  }

  /** Whether the object is a CloudEndpoint, also one of another copy of this package. */
  static override isInstance(object: unknown): object is CloudEndpoint {
    return pulumi.Resource.isInstance(object) && "__pulumiType" in object && object.__pulumiType === TYPE;
  }

  /**
   * @param name The resource's name in the program, unique among its type.
   * @param args What the endpoint is to be; see each input.
   * @throws Error where the provider cannot be found from the program's folder; ResourceError where the options
   * contradict each other.
   */
  constructor(name: string, args: CloudEndpointArgs, options?: pulumi.CustomResourceOptions);
  /** @internal Reads an existing endpoint: `CloudEndpoint.get`. */
  constructor(name: string, args: CloudEndpointArgs | undefined, options?: pulumi.CustomResourceOptions);
  constructor(name: string, args: CloudEndpointArgs | undefined, options?: pulumi.CustomResourceOptions) {
    assertResolvable();
    const outputs = Object.keys(endpointFields).filter((field) => field !== "id");
    super(
      TYPE,
      name,
      {
        ...Object.fromEntries(outputs.map((field) => [field, undefined])),
        ...args,
        [PROVIDER_KEY]: PROVIDER,
      },
      pulumi.mergeOptions({ deleteBeforeReplace: true }, options),
    );
    if (options?.id !== undefined) return;
    refuseUnsafeAdoption(this, args, options);
    checkHere(this, name, { ...args });
  }
}

/**
 * The provider's process resolves the package from the working directory. Where that fails (a transitive install
 * in a pnpm layout) every operation would end in "Cannot find module", so it is found out here.
 */
function assertResolvable(): void {
  const from = process.cwd();
  try {
    require.resolve("pulumi-endpoints/provider", { paths: [from] });
  } catch {
    throw new pulumi.RunError(
      `pulumi-endpoints cannot be found from ${from}, where Pulumi's provider process looks for it. Make it a direct dependency of the program: npm install pulumi-endpoints`,
    );
  }
}

/** With the new endpoint "created" first, adoption would take the old one over, and its deletion then remove it. */
function refuseUnsafeAdoption(
  resource: CloudEndpoint,
  args: CloudEndpointArgs | undefined,
  options: pulumi.CustomResourceOptions | undefined,
): void {
  if (options?.deleteBeforeReplace !== false || args?.adopt === undefined) return;
  pulumi.output(args.adopt).apply((adopt) => {
    if (adopt === false || hasUnknown(adopt)) return;
    const reason =
      "adopt together with deleteBeforeReplace: false could delete the endpoint that it took over; take one of them out";
    pulumi.log.error(reason, resource);
  });
}

import * as pulumi from "@pulumi/pulumi";
import { isMapping, policyReader } from "../provider/data/index";
import { wireText } from "../provider/endpoint/documents";
import { documentFields, endpointFields } from "../provider/endpoint/fields";
import { PROBLEM_KEY, PROVIDER_KEY } from "../provider/endpoint/inputs";
import { SECRET_FIELDS_KEY } from "../provider/endpoint/secrets";
import { TYPES } from "../provider/pulumi/typeTokens";
import type { alwaysPresent, CloudEndpointInputs, Endpoint } from "../provider/service/contract";
import { invalidateListings } from "./dataSources";
import { withParsedText, withPlainData } from "./plainData";
import type { TrafficPolicy } from "./policyRules";
import {
  assertNodeForProviders,
  assertResolvable,
  conflictAmongResources,
  reportMistakes,
  warnOfInputs,
  warnOfOptions,
  warnOfPolicy,
  warnOfSettings,
  withMistakes,
} from "./programChecks";
import { assertName, type InputOf, isOfType } from "./programRun";
import { aliasesOf, optionMistakes, type ProviderKind, providerKindOf } from "./provider";

/**
 * The provider string in every state of the dynamic type, in place of a serialized provider. It never changes, so upgrades show
 * no change, and old states run the installed code.
 */
const PROVIDER = 'exports.handler = () => require("pulumi-endpoints/provider");';

/** The inputs of a cloud endpoint. */
export type CloudEndpointArgs = {
  // Any object is accepted. The type lets editors complete known phases, actions and keys.
  [K in keyof CloudEndpointInputs]: K extends "trafficPolicy"
    ? pulumi.Input<CloudEndpointInputs[K] | TrafficPolicy>
    : InputOf<CloudEndpointInputs[K]>;
};

type Always = (typeof alwaysPresent)[number];
type Present<T> = { [K in keyof T]-?: NonNullable<T[K]> };
type OutputFields = Omit<Endpoint, "id" | Always> & Present<Pick<Endpoint, Always>>;

/** The outputs of a cloud endpoint: the service's fields. A field that does not apply is undefined. */
export type CloudEndpointOutputs = { readonly [K in keyof OutputFields]-?: pulumi.Output<OutputFields[K]> };

export interface CloudEndpoint extends CloudEndpointOutputs {}

/**
 * A cloud endpoint: a publicly reachable address with a traffic policy, which the service itself serves.
 *
 * ```ts
 * const shop = new CloudEndpoint("shop", {
 *   url: "https://shop.example.com",
 *   trafficPolicy: { on_http_request: [rules.answer({ status_code: 200, body: "hello" })] },
 * });
 * export const url = shop.publicUrl;
 * ```
 *
 * The preview lists every mistake in the inputs of all resources. The option `deleteBeforeReplace` is true by default,
 * because a URL belongs to one endpoint at a time.
 *
 * The dynamic provider serves the resource, or the plugin if `endpoints:provider` is `plugin`. A stack moves from one to
 * the other, and back, without a request.
 *
 * @throws RunError if the program's folder cannot resolve this package, if the plugin is required and not found, or if the name
 * is built from something else than text.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class sets the outputs, from the properties given to it
export class CloudEndpoint extends pulumi.CustomResource {
  /**
   * Reads a cloud endpoint that this stack does not manage.
   *
   * @param id The endpoint's id, `ep_…`. If it does not exist or has another type, the program fails.
   */
  static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    options?: pulumi.CustomResourceOptions,
  ): CloudEndpoint {
    return new CloudEndpoint(name, undefined, { ...options, id });
  }

  /** Whether the object is a CloudEndpoint, possibly of another copy of this package. */
  static override isInstance(object: unknown): object is CloudEndpoint {
    return isOfType(object, ...Object.values(TYPES));
  }

  // Without a comment of its own, so that editors show the one of the class, with its example.
  constructor(name: string, args: CloudEndpointArgs, options?: pulumi.CustomResourceOptions);
  /** @internal Reads an existing endpoint: `CloudEndpoint.get`. */
  constructor(name: string, args: CloudEndpointArgs | undefined, options?: pulumi.CustomResourceOptions);
  constructor(name: string, given: CloudEndpointArgs | undefined, options?: pulumi.CustomResourceOptions) {
    assertNodeForProviders();
    assertName("CloudEndpoint", name);
    const kind = providerKindOf(options);
    if (kind === "dynamic") assertResolvable();
    warnOfSettings();
    const checked = given && checkedArgs(name, given, kind, options);
    const { stackTraceLimit } = Error;
    // Pulumi records the stack of four promises for each output, to name one that never settles. With this many outputs,
    // that takes longer than the rest of a program, so it is off unless somebody looks for such a promise.
    if (!process.env["PULUMI_DEBUG_PROMISE_LEAKS"]) Error.stackTraceLimit = 0;
    try {
      super(TYPES[kind], name, propertiesOf(kind, checked), engineOptions(kind, options));
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
    // In a preview of the dynamic provider, the outputs are the inputs, and their documents are data.
    for (const field of documentFields) Object.assign(this, { [field]: this[field]?.apply(documentText) });
    // A list that a data source is reading may lack this endpoint.
    this.id.apply(invalidateListings);
  }
}

/** Arguments with the result of the checks that the provider cannot do. */
interface CheckedArgs {
  args: CloudEndpointArgs;
  /** The mistakes, one a line; empty if there is none. */
  problem: pulumi.Output<string>;
  /** Settles when the mistakes are reported. If the resource must not continue, it fails. */
  reported: Promise<void>;
}

function checkedArgs(
  name: string,
  given: CloudEndpointArgs,
  kind: ProviderKind,
  options: pulumi.CustomResourceOptions | undefined,
): CheckedArgs {
  const readPolicy = policyReader();
  const plain = withPlainData(given);
  const args = withParsedText(plain, readPolicy);
  warnOfOptions(name, options);
  void warnOfInputs(name, plain, options);
  const problem = withMistakes(conflictAmongResources(name, args, options), [
    ...optionMistakes(kind, options),
    warnOfPolicy(name, plain, options, readPolicy),
  ]);
  return { args, problem, reported: reportMistakes(name, args, problem) };
}

/** What the engine receives: the arguments, an output for each other field, and notes for the provider. */
function propertiesOf(kind: ProviderKind, checked: CheckedArgs | undefined): pulumi.Inputs {
  const { args, problem, reported } = checked ?? {};
  const isDynamic = kind === "dynamic";
  const secrets = secretFieldsOf(args ?? {});
  const outputs = Object.keys(endpointFields).filter((field) => field !== "id");
  return {
    ...Object.fromEntries(outputs.map((field) => [field, undefined])),
    ...args,
    ...Object.fromEntries(documentFields.map((field) => [field, wholeSecret(field, args?.[field], secrets)])),
    // For the plugin's check, an empty text means that the class has checked this resource.
    [PROBLEM_KEY]: problem?.apply((problem) => problem || (isDynamic ? undefined : "")),
    [PROVIDER_KEY]: Promise.resolve(reported).then(() => (isDynamic ? PROVIDER : undefined)),
    // The plugin receives all of these from the engine.
    ...(isDynamic && { [SECRET_FIELDS_KEY]: secrets.then((all) => (all.length > 0 ? all : undefined)) }),
  };
}

const engineOptions = (kind: ProviderKind, options: pulumi.CustomResourceOptions | undefined) =>
  pulumi.mergeOptions(
    { deleteBeforeReplace: true, aliases: aliasesOf(kind, options?.aliases) },
    kind === "dynamic" ? withoutImport(options) : options,
  );

/** The options without `import`. With it, the engine would read the endpoint before the check can refuse the option. */
function withoutImport({
  import: _,
  ...options
}: pulumi.CustomResourceOptions = {}): pulumi.CustomResourceOptions {
  return options;
}

/** A document as text, as in the contract. */
const documentText = (document: unknown): string | undefined =>
  document === undefined ? undefined : wireText(document);

/**
 * Marks a whole document as secret if a part of it is. The engine marks values by their path, so if somebody rearranged the
 * policy by hand, a refresh would return the secret unmarked. A document without a secret is unchanged, so that the preview
 * shows its known parts.
 */
async function wholeSecret(
  field: string,
  document: pulumi.Input<object | string | undefined>,
  secrets: Promise<string[]>,
): Promise<pulumi.Input<object | string | undefined>> {
  return (await secrets).includes(field) ? pulumi.secret(document) : document;
}

/** The names of the inputs that contain a secret. The dynamic provider needs them, because it receives values without marks. */
async function secretFieldsOf(args: object): Promise<string[]> {
  const fields = Object.entries(args).map(async ([name, value]) =>
    (await containsSecretOutput(value)) ? [name] : [],
  );
  return (await Promise.all(fields)).flat();
}

async function containsSecretOutput(value: unknown): Promise<boolean> {
  // An output contains no other output. A secret within it makes all of it secret.
  if (pulumi.Output.isInstance(value)) return pulumi.isSecret(value);
  if (value instanceof Promise) return containsSecretOutput(await value);
  if (!Array.isArray(value) && !isMapping(value)) return false;
  return (await Promise.all(Object.values(value).map(containsSecretOutput))).includes(true);
}

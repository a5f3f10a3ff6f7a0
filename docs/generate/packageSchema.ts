import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { endpointTypes } from "../../provider/dataSources/dataSourceArguments";
import { TYPES, WEBHOOK_TYPE } from "../../provider/pulumi/typeTokens";
import { alwaysPresent, PolicyWarnings } from "../../provider/service/contract";
import { knownBindings } from "../../sdk/policyWarnings";
import { webhookPlatforms } from "../../sdk/traffic-policy/webhooks/index";
import { agentConfigVersions, plans } from "../../sdk/webhooks/webhookArgs";
import { commentsIn, root, schemaPage } from "./docs";
import {
  agentInputs,
  endpointFilters,
  endpointInputs,
  endpointOutputs,
  endpointQueryFields,
  type JsonType,
  membersIn,
  refFields,
  type SchemaField,
  settings,
  webhookInputs,
  webhookOutputs,
} from "./fields";
import { code } from "./tables";

/*
 * The Pulumi package schema, from which Pulumi generates SDKs for every language. It consists of the zod schemas, the comments
 * on their fields, and the files in the folder `schema`: what the comments do not say in every language, and the examples.
 */

const REF = "endpoints:index:Ref";
const ENDPOINT = "endpoints:index:Endpoint";
const AGENT = "endpoints:index:WebhookAgent";
const CONTRACT = commentsIn("provider/service/contract.ts");
const ANY = { $ref: "pulumi.json#/Any" };
const TEXT = { type: "string" };
const TEXTS = { type: "array", items: TEXT };

/** The values that an editor offers for an input. Another value passes, and the provider decides: the service learns new ones. */
const OFFERED: Record<string, { enum: string; values: readonly (string | number)[] }> = {
  bindings: { enum: "Binding", values: knownBindings },
  types: { enum: "EndpointType", values: endpointTypes },
  platform: { enum: "WebhookPlatform", values: Object.keys(webhookPlatforms).sort() },
  plan: { enum: "AccountPlan", values: plans },
  agentConfigVersion: { enum: "AgentConfigVersion", values: agentConfigVersions },
  policyWarnings: { enum: "PolicyWarnings", values: Object.values(PolicyWarnings) },
};

const enumToken = (name: string) => `endpoints:index:${name}`;

export function packageSchema(): object {
  const { name, version, description, license, keywords } = manifest.parse(
    JSON.parse(readFileSync(join(root, "package.json"), "utf8")),
  );
  return {
    name: "endpoints",
    displayName: "Cloud Endpoints",
    version,
    description,
    // Pulumi's registry reads the category and the kind from the keywords.
    keywords: [...keywords, "category/network", "kind/native"],
    license,
    // Without it, the .NET package would name Pulumi as its publisher.
    publisher: `the ${name} authors`,
    // The generated packages get the version, and the Go SDK becomes a module.
    meta: { supportPack: true },
    config: { variables: variables() },
    provider: { description: schemaPage("Provider"), inputProperties: providerInputs() },
    resources: { [TYPES.plugin]: cloudEndpoint(), [WEBHOOK_TYPE]: webhookVerification() },
    functions: functions(),
    types: {
      [REF]: { type: "object", description: CONTRACT.get("Ref"), ...objectOf(refFields()) },
      [ENDPOINT]: { type: "object", ...endpoint() },
      [AGENT]: webhookAgent(),
      ...enums(),
    },
    language: {
      nodejs: { packageName: name, respectSchemaVersion: true },
      python: { pyproject: { enabled: true }, respectSchemaVersion: true },
      go: { respectSchemaVersion: true, generateResourceContainerTypes: true },
      csharp: { respectSchemaVersion: true },
    },
  };
}

const manifest = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  keywords: z.array(z.string()),
});

function enums(): object {
  const all = Object.values(OFFERED).map(({ enum: name, values }) => [
    enumToken(name),
    { ...typeOfValues(values), enum: values.map((value) => ({ name: nameOfValue(value), value })) },
  ]);
  return Object.fromEntries(all);
}

const typeOfValues = (values: readonly unknown[]) =>
  values.every(Number.isInteger) ? { type: "integer" } : TEXT;

/** `pay-as-you-go` as `PayAsYouGo`, and 3 as `V3`. */
const nameOfValue = (value: string | number) =>
  `${typeof value === "number" ? "v" : ""}${value}`
    .split(/[^a-z0-9]+/i)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");

/** The first paragraph of a comment, then the page of the item: what other languages need to know, and the example. */
const page = (item: string, comment = "") => `${comment.split("\n\n")[0]}\n\n${schemaPage(item)}`;

/**
 * Settings without defaults and without environment variables. A generated SDK would write their values into the state of
 * every explicit provider. There they would override the stack's configuration, and a later change of the environment would
 * have no effect. The provider reads the environment itself.
 */
function variables(): Record<string, Property> {
  const all = settings().map(({ name, type, environment, text, secret }): [string, Property] => [
    name,
    {
      type,
      description: `${text} In the environment: \`${environment}\`.`,
      ...(secret && { secret }),
    },
  ]);
  return Object.fromEntries(all);
}

/** The settings of an explicit provider. A generated SDK parses those of the stack as JSON if they offer values, so these offer none. */
function providerInputs(): Record<string, object> {
  const all = Object.entries(variables()).map(([name, { type, ...setting }]): [string, object] => [
    name,
    { ...(offeredType(name) ?? { type }), ...setting },
  ]);
  return Object.fromEntries(all);
}

function cloudEndpoint(): object {
  const { properties: inputProperties, required: requiredInputs } = inputsOf(endpointInputs());
  return {
    description: page("CloudEndpoint", commentsIn("sdk/cloudEndpoint.ts").get("CloudEndpoint")),
    inputProperties,
    requiredInputs,
    properties: objectOf(endpointOutputs().filter(({ name }) => name !== "id")).properties,
    required: alwaysPresent,
    aliases: [{ type: TYPES.dynamic }],
  };
}

function webhookVerification(): object {
  const about = commentsIn("sdk/webhooks/webhookVerification.ts").get("WebhookVerification");
  const { properties: inputs, required: requiredInputs } = inputsOf(webhookInputs());
  const known = Object.keys(webhookPlatforms).sort().map(code).join(", ");
  const outputs = webhookOutputs().map(({ name, text }) => [
    name,
    {
      ...(name === "agentOptions" ? TEXTS : TEXT),
      ...(!["platform", "secretSource"].includes(name) && { secret: true }),
      description: text,
    },
  ]);
  return {
    isComponent: true,
    description: page("WebhookVerification", about),
    inputProperties: {
      ...inputs,
      platform: {
        ...inputs["platform"],
        description: `${inputs["platform"]?.description} Known: ${known}.`,
      },
      secret: { ...inputs["secret"], secret: true },
      agent: { ...inputs["agent"], $ref: `#/types/${AGENT}` },
    },
    requiredInputs,
    properties: Object.fromEntries(outputs),
    required: ["platform", "secretSource", "trafficPolicy", "agentOptions"],
  };
}

function webhookAgent(): object {
  const { properties, required } = objectOf(agentInputs());
  const portOrUrl = { oneOf: [{ type: "integer" }, TEXT] };
  return {
    type: "object",
    description: commentsIn("sdk/webhooks/webhookArgs.ts").get("WebhookAgent"),
    properties: {
      ...properties,
      upstream: { ...portOrUrl, description: properties["upstream"]?.description },
    },
    required,
  };
}

function functions(): object {
  const about = commentsIn("provider/plugin/functions.ts");
  const merge = commentsIn("sdk/webhooks/merge.ts");
  const results = new Map(
    membersIn("sdk/dataSources.ts", "GetEndpointsResult").map(({ name, text }) => [name, text]),
  );
  return {
    "endpoints:index:getEndpoint": {
      description: page("getEndpoint", about.get("functions/endpoints:index:getEndpoint")),
      inputs: { properties: inputsOf(endpointQueryFields()).properties },
      outputs: endpoint(),
    },
    "endpoints:index:getEndpoints": {
      description: page("getEndpoints", about.get("functions/endpoints:index:getEndpoints")),
      inputs: { properties: inputsOf(endpointFilters()).properties },
      outputs: allOf({
        endpoints: {
          type: "array",
          items: { $ref: `#/types/${ENDPOINT}` },
          description: results.get("endpoints"),
        },
        ids: { ...TEXTS, description: results.get("ids") },
      }),
    },
    "endpoints:index:mergeTrafficPolicy": {
      description: page("mergeTrafficPolicy", merge.get("mergeTrafficPolicy")),
      inputs: allOf({
        policy: {
          ...ANY,
          description: "The traffic policy of the endpoint: an object, or text with JSON or YAML.",
        },
        verifications: {
          ...TEXTS,
          description:
            "The output `trafficPolicy` of each `WebhookVerification`, in the order in which they run. An enforced one without `expressions` stands alone, because a request has the signature of at most one platform.",
        },
      }),
      outputs: allOf({
        trafficPolicy: {
          ...ANY,
          secret: true,
          description: "The merged policy, for the input `trafficPolicy` of a `CloudEndpoint`. Secret.",
        },
      }),
    },
    "endpoints:index:mergeAgentConfigs": {
      description: page("mergeAgentConfigs", merge.get("mergeAgentConfigs")),
      inputs: allOf({
        configs: {
          ...TEXTS,
          description:
            "The output `agentConfig` of each `WebhookVerification`. All must have the same `agentConfigVersion`, and agents with different names.",
        },
      }),
      outputs: allOf({
        agentConfig: {
          ...TEXT,
          secret: true,
          description:
            "The agent's configuration file. It does not contain the agent's own token; set `NGROK_AUTHTOKEN` in the environment. Secret.",
        },
      }),
    },
  };
}

/** An object with all of these properties. */
const allOf = (properties: object) => ({ properties, required: Object.keys(properties) });

function endpoint() {
  return {
    description: CONTRACT.get("Endpoint"),
    properties: objectOf(endpointOutputs()).properties,
    required: ["id"],
  };
}

type Property = { type?: string; description: string };

/** The fields as the properties of an object. */
function objectOf(fields: SchemaField[], typeOfField = ({ json }: SchemaField) => typeOf(json)) {
  const properties = fields.map((field): [string, Property] => [
    field.name,
    { ...typeOfField(field), description: field.text },
  ]);
  const required = fields.flatMap((field) => (field.required ? [field.name] : []));
  return { properties: Object.fromEntries(properties), required };
}

/** The fields as inputs, which offer the values that are known. */
const inputsOf = (fields: SchemaField[]) =>
  objectOf(fields, ({ name, json }) => {
    const open = offeredType(name);
    if (!open) return typeOf(json);
    return json.type === "array" ? { type: "array", items: open } : open;
  });

/** The open type of an input that offers values. */
function offeredType(name: string): { oneOf: object[] } | undefined {
  const offered = OFFERED[name];
  if (!offered) return undefined;
  const type = typeOfValues(offered.values);
  return { oneOf: [type, { ...type, $ref: `#/types/${enumToken(offered.enum)}` }] };
}

/** A JSON schema's type in the package schema's terms. The only objects are references. */
function typeOf({ type, items, anyOf, enum: values }: JsonType): object {
  if (type === "array") return { type, items: typeOf(items ?? {}) };
  if (type === "object") return { $ref: `#/types/${REF}` };
  if (values?.every(Number.isInteger)) return { type: "integer" };
  if (type !== undefined) return { type };
  if (!anyOf) return ANY;
  const kinds = anyOf.map(typeOf);
  // The service writes some references as bare ids; the provider reads them as references.
  return kinds.find((kind) => "$ref" in kind) ?? { oneOf: kinds };
}

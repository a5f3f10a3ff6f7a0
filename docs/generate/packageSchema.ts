import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { alwaysPresent } from "../../provider/api/contract";
import { refSchema } from "../../provider/api/replySchemas";
import { environmentName, secretSettings, settingFields } from "../../provider/api/settings";
import { TYPES, WEBHOOK_TYPE } from "../../provider/api/typeTokens";
import { endpointFields, inputFields } from "../../provider/endpoint/fields";
import { knownBindings } from "../../provider/endpoint/inputs";
import { endpointQuery, endpointsFilter, endpointTypes } from "../../provider/endpoint/lookup";
import { webhookPlatforms } from "../../sdk/webhooks/platforms";
import { plans } from "../../sdk/webhooks/webhookArgs";
import { agentFields, webhookFields } from "../../sdk/webhooks/webhookChecks";
import { docsOf, root, schemaPage } from "./docs";
import { code } from "./tables";

/*
 * The Pulumi package schema, from which Pulumi generates SDKs for every language. It consists of the zod schemas, the comments
 * on their fields, and the files in the folder `schema`: what the comments do not say in every language, and the examples.
 * `npm run generate` writes it, and a test compares the file with the source.
 */

const REF = "endpoints:index:Ref";
const ENDPOINT = "endpoints:index:Endpoint";
const AGENT = "endpoints:index:WebhookAgent";
const WEBHOOK_ARGS = "sdk/webhooks/webhookArgs.ts";
const ANY = { $ref: "pulumi.json#/Any" };
const TEXT = { type: "string" };
const TEXTS = { type: "array", items: TEXT };

/**
 * The values that an editor offers for an input. Another text passes, and the provider warns of it: the service learns new ones.
 * A setting has none: a generated SDK would write text of two types as JSON.
 */
const OFFERED: Record<string, { enum: string; values: readonly string[] }> = {
  bindings: { enum: "Binding", values: knownBindings },
  types: { enum: "EndpointType", values: endpointTypes },
  platform: { enum: "WebhookPlatform", values: Object.keys(webhookPlatforms).sort() },
  plan: { enum: "AccountPlan", values: plans },
};

const enumToken = (name: string) => `endpoints:index:${name}`;

export function packageSchema(): object {
  const { name, version, description, license, keywords, homepage, repository } = manifest.parse(
    JSON.parse(readFileSync(join(root, "package.json"), "utf8")),
  );
  const settings = variables();
  const readmeOf = (language: string, example: string) =>
    readme(description, { language, example }, settings);
  return {
    name: "endpoints",
    displayName: "Endpoints",
    version,
    description,
    keywords: [...keywords, "kind/native", "category/network"],
    license,
    homepage,
    repository: repository?.url.replace(/^git\+|\.git$/g, ""),
    // Without it, the .NET package would name Pulumi as its publisher.
    publisher: `the ${name} authors`,
    // The generated packages get the version, and the Go SDK becomes a module.
    meta: { supportPack: true },
    config: { variables: settings },
    provider: {
      description: page("Provider"),
      inputProperties: settings,
    },
    resources: {
      [TYPES.plugin]: cloudEndpoint(),
      [WEBHOOK_TYPE]: webhookVerification(),
    },
    functions: functions(),
    types: {
      [REF]: {
        type: "object",
        description: docsOf("provider/api/contract.ts", "Ref").text,
        properties: properties(refSchema.shape, docsOf("provider/api/contract.ts", "Ref").parts),
        required: ["id"],
      },
      [ENDPOINT]: { type: "object", ...endpoint() },
      [AGENT]: webhookAgent(),
      ...enums(),
    },
    language: {
      nodejs: {
        packageName: name,
        readme: readmeOf("ts", "quickstart/index.ts"),
        respectSchemaVersion: true,
      },
      python: {
        pyproject: { enabled: true },
        readme: readmeOf("python", "python/__main__.py"),
        respectSchemaVersion: true,
      },
      go: { respectSchemaVersion: true, generateResourceContainerTypes: true },
      csharp: { respectSchemaVersion: true },
    },
  };
}

function enums(): object {
  const all = Object.values(OFFERED).map(({ enum: name, values }) => [
    enumToken(name),
    { ...TEXT, enum: values.map((value) => ({ name: pascalCase(value), value })) },
  ]);
  return Object.fromEntries(all);
}

/** `pay-as-you-go` as `PayAsYouGo`. */
const pascalCase = (value: string) =>
  value
    .split(/[^a-z0-9]+/i)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");

const manifest = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  keywords: z.array(z.string()),
  homepage: z.string().optional(),
  repository: z.object({ url: z.string() }).optional(),
});

/** The first paragraph of a comment, then the page of the item: what other languages need to know, and the examples. */
function page(item: string, comment?: string): string {
  const [first] = comment?.split("\n\n") ?? [];
  const more = schemaPage(item);
  return first === undefined ? more : `${first}\n\n${more}`;
}

/**
 * Settings without defaults and without environment variables. A generated SDK would write their values into the state of
 * every explicit provider. There they would override the stack's configuration, and a later change of the environment would
 * have no effect. The provider reads the environment itself.
 */
function variables(): Record<string, { description: string }> {
  const { parts } = docsOf("provider/api/settings.ts", "settingFields");
  const all = Object.keys(settingFields).map((name) => [
    name,
    {
      type: name === "requestsPerWindow" ? "integer" : name.endsWith("Seconds") ? "number" : "string",
      description: `${parts.get(name)} In the environment: \`${environmentName(name)}\`.`,
      ...(secretSettings.includes(name) && { secret: true }),
    },
  ]);
  return Object.fromEntries(all);
}

function cloudEndpoint(): object {
  const { id: _, ...outputs } = endpointFields;
  return {
    description: page("CloudEndpoint", docsOf("sdk/cloudEndpoint.ts", "CloudEndpoint").text),
    inputProperties: inputProperties(
      inputFields,
      docsOf("provider/api/contract.ts", "CloudEndpointWritten").parts,
    ),
    requiredInputs: ["url"],
    properties: properties(outputs, docsOf("provider/api/contract.ts", "Endpoint").parts),
    required: alwaysPresent,
    aliases: [{ type: TYPES.dynamic }],
  };
}

function webhookVerification(): object {
  const { text, parts } = docsOf("sdk/webhooks/webhookVerification.ts", "WebhookVerification");
  const inputs = inputProperties(webhookFields, docsOf(WEBHOOK_ARGS, "WebhookSettingsWritten").parts);
  const output = (name: string, type: object) => ({ ...type, description: parts.get(name) });
  const platforms = Object.keys(webhookPlatforms).sort().map(code).join(", ");
  return {
    isComponent: true,
    description: page("WebhookVerification", text),
    inputProperties: {
      ...inputs,
      platform: {
        ...inputs["platform"],
        description: `${inputs["platform"]?.description} Known: ${platforms}.`,
      },
      secret: { ...inputs["secret"], secret: true },
      agent: { ...inputs["agent"], $ref: `#/types/${AGENT}` },
    },
    requiredInputs: ["platform", "secret"],
    properties: {
      platform: output("platform", TEXT),
      secretSource: output("secretSource", TEXT),
      trafficPolicy: output("trafficPolicy", { ...TEXT, secret: true }),
      agentOptions: output("agentOptions", { ...TEXTS, secret: true }),
      agentConfig: output("agentConfig", { ...TEXT, secret: true }),
    },
    required: ["platform", "secretSource", "trafficPolicy", "agentOptions"],
  };
}

function webhookAgent(): object {
  const { text, parts } = docsOf(WEBHOOK_ARGS, "WebhookAgent");
  const { upstream, ...others } = properties(agentFields, parts);
  const portOrUrl = { oneOf: [{ type: "integer" }, TEXT] };
  return {
    type: "object",
    description: text,
    properties: { ...others, upstream: { ...portOrUrl, description: upstream?.description } },
    required: ["upstream"],
  };
}

function functions(): object {
  const { parts } = docsOf("provider/plugin/functions.ts", "functions");
  const results = docsOf("sdk/dataSources.ts", "GetEndpointsResult").parts;
  const inputs = (fields: z.ZodRawShape, name: string) => ({
    properties: inputProperties(fields, docsOf("provider/api/contract.ts", name).parts),
  });
  return {
    "endpoints:index:getEndpoint": {
      description: page("getEndpoint", parts.get("endpoints:index:getEndpoint")),
      inputs: inputs(endpointQuery, "EndpointQuery"),
      outputs: endpoint(),
    },
    "endpoints:index:getEndpoints": {
      description: page("getEndpoints", parts.get("endpoints:index:getEndpoints")),
      inputs: inputs(endpointsFilter, "EndpointsFilter"),
      outputs: {
        properties: {
          endpoints: {
            type: "array",
            items: { $ref: `#/types/${ENDPOINT}` },
            description: results.get("endpoints"),
          },
          ids: { ...TEXTS, description: results.get("ids") },
        },
        required: ["endpoints", "ids"],
      },
    },
    "endpoints:index:mergeTrafficPolicy": {
      description: page("mergeTrafficPolicy", docsOf("sdk/webhooks/merge.ts", "mergeTrafficPolicy").text),
      inputs: {
        properties: {
          policy: {
            ...ANY,
            description: "The traffic policy of the endpoint: an object, or text with JSON or YAML.",
          },
          verifications: {
            ...TEXTS,
            description:
              "The output `trafficPolicy` of each `WebhookVerification`, in the order in which they run. At most one rule of the result may verify and enforce without `expressions`, because a request has the signature of at most one platform.",
          },
        },
        required: ["policy", "verifications"],
      },
      outputs: {
        properties: {
          trafficPolicy: {
            ...ANY,
            secret: true,
            description: "The merged policy, for the input `trafficPolicy` of a `CloudEndpoint`. Secret.",
          },
        },
        required: ["trafficPolicy"],
      },
    },
    "endpoints:index:mergeAgentConfigs": {
      description: page("mergeAgentConfigs", docsOf("sdk/webhooks/merge.ts", "mergeAgentConfigs").text),
      inputs: {
        properties: {
          configs: {
            ...TEXTS,
            description:
              "The output `agentConfig` of each `WebhookVerification`. All must have the same `agentConfigVersion`, and agents with different names.",
          },
        },
        required: ["configs"],
      },
      outputs: {
        properties: {
          agentConfig: {
            ...TEXT,
            secret: true,
            description:
              "The agent's configuration file. It does not contain the agent's own token; set `NGROK_AUTHTOKEN` in the environment. Secret.",
          },
        },
        required: ["agentConfig"],
      },
    },
  };
}

function endpoint() {
  const { text, parts } = docsOf("provider/api/contract.ts", "Endpoint");
  return { description: text, properties: properties(endpointFields, parts), required: ["id"] };
}

type Property = { description?: string | undefined } & object;

function properties(fields: z.ZodRawShape, docs: ReadonlyMap<string, string>): Record<string, Property> {
  const all = Object.entries(fields).map(([name, field]) => {
    const json = z.toJSONSchema(z.object({ field }), { io: "input", unrepresentable: "any" });
    return [
      name,
      { ...typeOf(jsonType.parse(json.properties?.["field"] ?? {})), description: docs.get(name) },
    ];
  });
  return Object.fromEntries(all);
}

/** Inputs, which offer the values that are known. */
function inputProperties(fields: z.ZodRawShape, docs: ReadonlyMap<string, string>): Record<string, Property> {
  const all = Object.entries(properties(fields, docs)).map(([name, property]) => {
    const offered = OFFERED[name];
    if (!offered) return [name, property];
    const open = { oneOf: [TEXT, { ...TEXT, $ref: `#/types/${enumToken(offered.enum)}` }] };
    const isList = "type" in property && property.type === "array";
    const { description } = property;
    return [name, isList ? { type: "array", items: open, description } : { ...open, description }];
  });
  return Object.fromEntries(all);
}

const jsonType = z.looseObject({
  type: z.string().optional(),
  get items() {
    return jsonType.optional();
  },
  get anyOf() {
    return z.array(jsonType).optional();
  },
  enum: z.array(z.unknown()).optional(),
});
type JsonType = z.output<typeof jsonType>;

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

/** The README of a generated SDK: its purpose, an example in its language, and the settings. */
function readme(
  description: string,
  { language, example }: { language: string; example: string },
  settings: Record<string, { description: string }>,
): string {
  const program = readFileSync(join(root, "examples", example), "utf8").trim();
  const rows = Object.entries(settings).map(
    ([name, setting]) => `- \`endpoints:${name}\`: ${setting.description}`,
  );
  return [
    description,
    `\`\`\`${language}\n${program}\n\`\`\``,
    "The inputs of an explicit provider win over the stack's configuration, which wins over the environment:",
    `${rows.join("\n")}\n`,
  ].join("\n\n");
}

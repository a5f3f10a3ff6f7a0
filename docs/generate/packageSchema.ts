import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { environmentName, secretSettings, settingFields, TYPES } from "../../provider/api/config";
import { alwaysPresent } from "../../provider/api/contract";
import { refSchema } from "../../provider/api/wire";
import { endpointFields, inputFields } from "../../provider/endpoint/fields";
import { endpointQuery, endpointsFilter } from "../../provider/endpoint/lookup";
import { listFilters } from "../../provider/plugin/list";
import { docsOf, root } from "./docs";

/*
 * The Pulumi package schema, from which Pulumi generates SDKs for every language. It consists of the zod schemas and the
 * comments on their fields. `npm run generate` writes it, and a test compares the file with the source.
 */

const REF = "endpoints:index:Ref";
const ENDPOINT = "endpoints:index:Endpoint";
const ANY = { $ref: "pulumi.json#/Any" };

export function packageSchema(): object {
  const { name, version, description, license, keywords } = manifest.parse(
    JSON.parse(readFileSync(join(root, "package.json"), "utf8")),
  );
  const functions = docsOf("provider/plugin/functions.ts", "functions").parts;
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
    // Without it, the .NET package would name Pulumi as its publisher.
    publisher: `the ${name} authors`,
    // The generated packages get the version, and the Go SDK becomes a module.
    meta: { supportPack: true },
    config: { variables: settings },
    provider: {
      description:
        "An account of the endpoint service. Omitted settings come from the stack's configuration, or else from the environment.",
      inputProperties: settings,
    },
    resources: { [TYPES.plugin]: cloudEndpoint() },
    functions: {
      "endpoints:index:getEndpoint": {
        description: functions.get("endpoints:index:getEndpoint"),
        inputs: {
          properties: properties(endpointQuery, docsOf("provider/api/contract.ts", "EndpointQuery").parts),
        },
        outputs: endpoint(),
      },
      "endpoints:index:getEndpoints": {
        description: functions.get("endpoints:index:getEndpoints"),
        inputs: {
          properties: properties(
            endpointsFilter,
            docsOf("provider/api/contract.ts", "EndpointsFilter").parts,
          ),
        },
        outputs: {
          properties: {
            endpoints: {
              type: "array",
              items: { $ref: `#/types/${ENDPOINT}` },
              description: "Newest first.",
            },
            ids: {
              type: "array",
              items: { type: "string" },
              description: "The identifiers of the endpoints, in the same order.",
            },
          },
          required: ["endpoints", "ids"],
        },
      },
    },
    types: {
      [REF]: {
        type: "object",
        description: docsOf("provider/api/contract.ts", "Ref").text,
        properties: properties(refSchema.shape, docsOf("provider/api/contract.ts", "Ref").parts),
        required: ["id"],
      },
      [ENDPOINT]: { type: "object", ...endpoint() },
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

const manifest = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  keywords: z.array(z.string()),
});

/**
 * Settings without defaults and without environment variables. A generated SDK would write their values into the state of
 * every explicit provider. There they would override the stack's configuration, and a later change of the environment would
 * have no effect. The provider reads the environment itself.
 */
function variables(): Record<string, { description: string }> {
  const { parts } = docsOf("provider/api/config.ts", "settingFields");
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
  const [description] = docsOf("sdk/cloudEndpoint.ts", "CloudEndpoint").text.split("\n\n");
  const { id: _, ...outputs } = endpointFields;
  const fields = properties(outputs, docsOf("provider/api/contract.ts", "Endpoint").parts);
  const inputs = docsOf("provider/api/contract.ts", "CloudEndpointWritten").parts;
  return {
    description: `${description}\n\nSet the resource option \`deleteBeforeReplace\`, because a URL belongs to one endpoint at a time.`,
    inputProperties: properties(inputFields, inputs),
    requiredInputs: ["url"],
    listInputs: {
      properties: properties(listFilters, docsOf("provider/api/contract.ts", "EndpointsFilter").parts),
    },
    properties: fields,
    required: alwaysPresent,
    aliases: [{ type: TYPES.dynamic }],
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

const jsonType = z.looseObject({
  type: z.string().optional(),
  get items() {
    return jsonType.optional();
  },
  get anyOf() {
    return z.array(jsonType).optional();
  },
});
type JsonType = z.output<typeof jsonType>;

/** A JSON schema's type in the package schema's terms. The only objects are references. */
function typeOf({ type, items, anyOf }: JsonType): object {
  if (type === "array") return { type, items: typeOf(items ?? {}) };
  if (type === "object") return { $ref: `#/types/${REF}` };
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

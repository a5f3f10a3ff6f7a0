import { z } from "zod";
import { endpointQuery, endpointsFilter } from "../../provider/dataSources/dataSourceArguments";
import { endpointFields, inputFields } from "../../provider/endpoint/fields";
import { alwaysPresent } from "../../provider/service/contract";
import { refSchema } from "../../provider/service/replySchemas";
import { environmentName, secretSettings, settingFields } from "../../provider/service/settings";
import { agentFields, webhookFields } from "../../sdk/webhooks/webhookChecks";
import { commentsIn, membersOf } from "./docs";

/* The fields of everything that a program writes or reads, from the schemas and the comments. */

export interface Field {
  name: string;
  /** The type in TypeScript. */
  type: string;
  required: boolean;
  /** The documentation, including the default. */
  text: string;
}

/** A field that a schema checks. */
export interface SchemaField extends Field {
  json: JsonType;
}

const CONTRACT = "provider/service/contract.ts";
const WEBHOOK_ARGS = "sdk/webhooks/webhookArgs.ts";

export const refFields = () => fieldsOf(refSchema.shape, CONTRACT, "Ref");
export const endpointInputs = () => fieldsOf(inputFields, CONTRACT, "CloudEndpointInputs");
export const endpointQueryFields = () => fieldsOf(endpointQuery, CONTRACT, "EndpointQuery");
export const endpointFilters = () => fieldsOf(endpointsFilter, CONTRACT, "EndpointsFilter");
export const agentInputs = () => fieldsOf(agentFields, WEBHOOK_ARGS, "WebhookAgent");
export const webhookOutputs = () => membersIn("sdk/webhooks/webhookVerification.ts", "WebhookVerification");

export function endpointOutputs(): SchemaField[] {
  const always = new Set<string>(["id", ...alwaysPresent]);
  const outputs = fieldsOf(endpointFields, CONTRACT, "Endpoint");
  return outputs.map((field) => ({ ...field, required: always.has(field.name) }));
}

export const webhookInputs = () =>
  // The schema accepts a missing secret, because the component reports it with the place where the platform keeps it.
  fieldsOf(webhookFields, WEBHOOK_ARGS, "WebhookInputs").map((field) =>
    field.name === "secret" ? { ...field, required: true } : field,
  );

/** A setting of the provider. */
interface Setting extends Field {
  environment: string;
  secret: boolean;
}

export function settings(): Setting[] {
  const comments = commentsIn("provider/service/settings.ts");
  return Object.keys(settingFields).map((name) => ({
    name,
    type: name === "requestsPerWindow" ? "integer" : name.endsWith("Seconds") ? "number" : "string",
    required: name === "apiKey" || name === "baseUrl",
    text: comments.get(`settingFields/${name}`) ?? "",
    environment: environmentName(name),
    secret: secretSettings.includes(name),
  }));
}

/** The fields of an interface or a class. */
export const membersIn = (file: string, name: string): Field[] =>
  membersOf(file, name).map(({ optional, ...member }) => ({ ...member, required: !optional }));

/** The fields of a schema, with the comments on the interface that a program sees. */
function fieldsOf(shape: z.ZodRawShape, file: string, of: string): SchemaField[] {
  const comments = commentsIn(file);
  const { properties = {}, required = [] } = jsonType.parse(
    z.toJSONSchema(z.object(shape), { io: "input", unrepresentable: "any" }),
  );
  return Object.entries(shape).map(([name, field]) => {
    const json = properties[name] ?? {};
    const type = typeText(json) ?? acceptedKinds(field);
    return { name, type, json, required: required.includes(name), text: comments.get(`${of}/${name}`) ?? "" };
  });
}

const jsonType = z.looseObject({
  type: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  get items() {
    return jsonType.optional();
  },
  get anyOf() {
    return z.array(jsonType).optional();
  },
  get properties() {
    return z.record(z.string(), jsonType).optional();
  },
});
/** A JSON Schema, as zod writes it. */
export type JsonType = z.output<typeof jsonType>;

/** The TypeScript type of a JSON schema. Undefined if the schema has no type. */
function typeText({ type, items, anyOf, enum: values, properties, required }: JsonType): string | undefined {
  if (values) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (anyOf) return [...new Set(anyOf.map((kind) => typeText(kind) ?? "object"))].join(" | ");
  if (type === "array") return `${typeText(items ?? {}) ?? "unknown"}[]`;
  if (type === "object" && properties) {
    const parts = Object.entries(properties).map(
      ([name, part]) => `${name}${required?.includes(name) ? "" : "?"}: ${typeText(part)}`,
    );
    // Otherwise the page has a separate table of its properties.
    return Object.values(properties).every(typeText) ? `{ ${parts.join("; ")} }` : type;
  }
  return type === "integer" ? "number" : type;
}

/** Values of each kind, for checks that no JSON schema can express. */
const SAMPLES: [string, unknown[]][] = [
  ["object", [{}]],
  ["string", ["{}", "8080"]],
  ["number", [8080]],
];

/** The kinds of values that a field accepts, found by parsing samples. */
function acceptedKinds(field: z.core.$ZodType): string {
  const kinds = SAMPLES.filter(([, samples]) => samples.some((one) => z.safeParse(field, one).success));
  return kinds.map(([kind]) => kind).join(" | ");
}

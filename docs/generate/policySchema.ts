import {
  type ActionInfo,
  actions,
  type KeyInfo,
  type Keys,
  type PhaseInfo,
  phases,
  ruleKeys,
} from "../../sdk/traffic-policy/policy/index";
import { commentsIn } from "./docs";

type Schema = Record<string, unknown>;

/** The JSON Schema of traffic policies, which `npm run generate` writes to sdk/traffic-policy/schema.json. */
export function policySchema(): Schema {
  const comments = commentsIn("sdk/traffic-policy/policy/catalogue.ts");
  const described = (path: string) => ({ description: comments.get(path) });
  const all = Object.entries<ActionInfo>(actions);

  /** Editors offer the known values, and accept others. */
  const schemaOf = (key: KeyInfo, path: string): Schema => {
    const one = itemOf(key, path);
    if (key.list === true) return { type: "array", items: one };
    return key.list === "or one" ? { anyOf: [{ type: "array", items: one }, one] } : one;
  };
  const itemOf = ({ kind, values, keys }: KeyInfo, path: string): Schema => {
    if (keys) return objectOf(keys, `${path}/keys`);
    if (values) return { anyOf: [{ enum: values }, { type: "string" }] };
    if (kind === "map of text") return { type: "object", additionalProperties: oneOfTypes(SCALARS) };
    if (kind === "map" || kind === "object") return { type: "object" };
    return { type: kind === "text" || kind === "duration" ? "string" : kind };
  };
  const objectOf = (keys: Keys, path: string): Schema => {
    const required = Object.entries<KeyInfo>(keys).filter(
      ([, key]) => key.required && key.default === undefined,
    );
    return {
      type: "object",
      additionalProperties: false,
      properties: Object.fromEntries(
        Object.entries<KeyInfo>(keys).map(([name, key]) => {
          const inner = `${path}/${name}`;
          const standard = key.default === undefined ? {} : { default: key.default };
          return [name, { ...described(inner), ...standard, ...schemaOf(key, inner) }];
        }),
      ),
      ...(required.length > 0 && { required: required.map(([name]) => name) }),
    };
  };

  const ofType = ([type, { keys, isDeprecated }]: [string, ActionInfo]): Schema => {
    const config = isDeprecated ? {} : objectOf(keys, `actions/${type}/keys`);
    return {
      if: { properties: { type: { const: type } }, required: ["type"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { config }, ...("required" in config && { required: ["config"] }) },
    };
  };
  const ruleOf = (phase: string): Schema => {
    const types = all
      .filter(([, { phases }]) => (phases as readonly string[]).includes(phase))
      .map(([type]) => ({ const: type, ...described(`actions/${type}`) }));
    const rule = objectOf(ruleKeys, "ruleKeys");
    const ofPhase = { type: "object", properties: { type: { anyOf: types } } };
    const items = { allOf: [ofPhase, { $ref: "#/definitions/action" }] };
    const properties = rule["properties"] as Schema;
    const actionList = { ...(properties["actions"] as Schema), minItems: 1, items };
    return { ...rule, properties: { ...properties, actions: actionList } };
  };

  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Traffic policy",
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.keys(phases satisfies Record<string, PhaseInfo>).map((phase) => [
        phase,
        { ...described(`phases/${phase}`), type: ["array", "null"], items: ruleOf(phase) },
      ]),
    ),
    definitions: {
      action: {
        type: "object",
        additionalProperties: false,
        properties: {
          // The schema of each phase lists its known types.
          type: { ...described("actionKeys/type"), type: "string" },
          config: described("actionKeys/config"),
        },
        required: ["type"],
        allOf: all.map(ofType),
      },
    },
  };
}

const oneOfTypes = (types: readonly string[]): Schema => ({ anyOf: types.map((type) => ({ type })) });

/** The types of a header's value, which YAML can read as a number or a boolean if it has no quotes. */
const SCALARS = ["string", "number", "boolean"];

import { z } from "zod";
import { isMapping, type JsonObject } from "./api/json";
import { MARK_FIELD, MAX_METADATA } from "./api/mark";
import { normalizeUrl, urlProblem } from "./api/url";
import type { CloudEndpointWritten } from "./args";
import { metadataFromText, policyFromText, problemsOfData, wireText } from "./document";
import type { Parsed } from "./jsonText";

/* The checks of a cloud endpoint's inputs. */

/** The most characters of a description (documented with the service's error 18012). */
export const MAX_DESCRIPTION = 255;

const text = z.string({ error: (issue) => `must be text, not ${kindOf(issue.input)}` });
const flag = z.boolean({ error: (issue) => `must be true or false, not ${kindOf(issue.input)}` });

/** Policies and metadata: data, or text. */
function document(isData: (value: unknown) => boolean) {
  return z.custom<object | string>((value) => typeof value === "string" || isData(value), {
    error: (issue) => `must be an object or text, not ${kindOf(issue.input)}`,
  });
}

/** The inputs of a cloud endpoint. Each schema converts the written value to the form of the state. */
export const inputFields = {
  url: text
    .check((context) => refuse(context, urlProblem(context.value)))
    .transform((url) => normalizeUrl(url) ?? url),

  trafficPolicy: document(isMapping)
    .transform((policy, context): JsonObject => asData(policy, policyFromText, context) as JsonObject)
    .optional(),

  description: text.check((context) => refuse(context, tooLong(context.value, MAX_DESCRIPTION))).optional(),

  metadata: document((value) => isMapping(value) || Array.isArray(value))
    .transform(
      (metadata, context) => asData(metadata, metadataFromText, context) as JsonObject | unknown[] | string,
    )
    .check((context) => refuse(context, tooLong(wireText(context.value), MAX_METADATA)))
    .check((context) => refuse(context, reserved(context.value)))
    .optional(),

  bindings: z
    .array(text.min(1, "must not contain an empty name"), {
      error: (issue) => `must be a list of names, not ${kindOf(issue.input)}`,
    })
    .min(1, "must name at least one binding; remove bindings to let the service decide")
    .check((context) => refuse(context, repeated(context.value)))
    .optional(),

  poolingEnabled: flag.optional(),

  adopt: z
    .union([z.boolean(), z.string().regex(/^ep_\w+$/, "must be true, or an endpoint's id (ep_…)")], {
      error: "must be true, or an endpoint's id (ep_…)",
    })
    .optional(),
} satisfies { [Name in keyof CloudEndpointWritten]-?: z.ZodType<unknown, CloudEndpointWritten[Name]> };

/** The checked inputs, in the form of the state: URL normalized, policy and metadata as data. */
export type CloudEndpointInputs = z.output<z.ZodObject<typeof inputFields>>;

/** The inputs that describe an endpoint, and that an update can send. (`adopt` only affects the first create.) */
export const managedInputs = [
  "url",
  "trafficPolicy",
  "description",
  "metadata",
  "bindings",
  "poolingEnabled",
] as const satisfies (keyof CloudEndpointInputs)[];

export type ManagedInput = (typeof managedInputs)[number];

/** Inputs that the service chooses if they are not given. The others are cleared. */
export const leftToTheService = ["trafficPolicy", "bindings", "poolingEnabled"] as const;

/** The given ones of these inputs, for the state's note. */
export function givenInputs(news: CloudEndpointInputs): ManagedInput[] {
  return leftToTheService.filter((name) => news[name] !== undefined);
}

/** Whether the service chooses this input if it is not given. */
export function isLeftToTheService(name: ManagedInput): boolean {
  return leftToTheService.some((left) => left === name);
}

function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function refuse(context: { issues: z.core.$ZodRawIssue[]; value: unknown }, reason: string | undefined) {
  if (reason) context.issues.push({ code: "custom", message: reason, input: context.value });
}

/** Parses text, and reports each value that JSON cannot carry, with its path. */
function asData(value: object | string, parse: (text: string) => Parsed, context: z.RefinementCtx): unknown {
  const parsed: Parsed = typeof value === "string" ? parse(value) : { data: value };
  // The parser has checked the values of a text.
  const ofData = typeof value === "string" ? [] : problemsOfData(value);
  const problems = "problem" in parsed ? [parsed.problem] : ofData;
  for (const { path, reason } of problems) {
    context.issues.push({ code: "custom", message: reason, path: [path], input: undefined });
  }
  return "data" in parsed ? parsed.data : z.NEVER;
}

function reserved(metadata: unknown): string | undefined {
  if (!isMapping(metadata) || !Object.hasOwn(metadata, MARK_FIELD)) return undefined;
  return `must not have the key ${MARK_FIELD}, which is reserved for the marks of endpoints:mark; rename the key`;
}

function tooLong(value: string, most: number): string | undefined {
  const length = [...value].length;
  return length > most ? `must have at most ${most} characters, but has ${length}` : undefined;
}

function repeated(names: string[]): string | undefined {
  const known = new Set<string>();
  const twice = names.findIndex((name) => known.has(name) || !known.add(name));
  return twice === -1 ? undefined : `has a duplicate at [${twice}]; give each binding once`;
}

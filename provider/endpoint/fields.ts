import { z } from "zod";
import {
  isMapping,
  type JsonObject,
  missingSecret,
  normalizeUrl,
  numberedPhases,
  type Parsed,
  pathText,
  policyFromText,
  problemOfKeys,
  problemsOfData,
  urlProblem,
} from "../data/index";
import { hasUnknown, UNKNOWN } from "../pulumi/sentinels";
import type { CloudEndpointInputs, Endpoint } from "../service/contract";
import { parsersOf, refSchema } from "../service/replySchemas";
import { metadataFromText, sameData, sameSet, wireText } from "./documents";
import { undefinedInHost } from "./standIns";

/*
 * The fields of an endpoint, a row each. Checks, diffs, requests, previews, notes in the state, refreshes, drift, adoption, the
 * plugin's schema and the reference derive from the rows. The comments that users read are in `service/contract.ts`;
 * the compiler refuses a row without its property there, and a property without its row.
 */

/** What is the same for all fields. */
interface Row {
  /** A second name on the wire. The first one is the field's name in snake case. */
  alias?: string;
  /** Parses the text of a document. The inputs hold its data; the wire and the outputs hold canonical JSON. */
  parse?: (text: string) => unknown;
  /** Whether a live value satisfies the program's value. Default: equal data. */
  isSame?: (live: unknown, wanted: unknown) => boolean;
  /**
   * What it means if the program leaves the input out: an update clears it, the service keeps its value, or the service chose
   * a default, which the state notes.
   */
  omitted?: "cleared" | "kept" | "serviceDefault";
  /** Whether the contract derives the field from the URL, or the service computes it again with another URL. */
  withUrl?: "derived" | "recomputed";
}

/** `reply` checks a field of replies. `input` checks an input, and converts the written value to the form of the state. */
type Rows = {
  [Name in keyof Endpoint]-?: Row & { reply: z.ZodType<Endpoint[Name]> };
} & {
  [Name in keyof CloudEndpointInputs]-?: Row & { input: z.ZodType<unknown, CloudEndpointInputs[Name]> };
};

/** The most characters of metadata (documented with the service's error 18013). */
const MAX_METADATA = 4096;

/** The most characters of a description (documented with the service's error 18012). */
const MAX_DESCRIPTION = 255;

const ADOPT_FORM = "must be an endpoint's id (ep_…)";
const ADOPT_TRUE = `${ADOPT_FORM}, which the message of a taken URL, \`npx pulumi-endpoints drift\` and \`npx pulumi-endpoints adopt --select URL\` print`;

const textInput = z.string({ error: (issue) => `must be text, not ${kindOf(issue.input)}` });
const textReply = z.string().optional();
const ref = refSchema.optional();

const rows = {
  id: { reply: z.string().min(1) },
  url: {
    reply: textReply,
    input: textInput
      .check(failsIf(urlProblem))
      .transform((url) => normalizeUrl(url) ?? url)
      .check(failsIf(undefinedInHost)),
  },
  description: {
    reply: textReply,
    input: textInput.check(failsIf((text) => lengthProblem(text, MAX_DESCRIPTION))).optional(),
    omitted: "cleared",
  },
  metadata: {
    reply: textReply,
    input: document((value) => isMapping(value) || Array.isArray(value))
      .transform(
        (metadata, context) => asData(metadata, metadataFromText, context) as JsonObject | unknown[] | string,
      )
      .check(failsIf((metadata) => (typeof metadata === "string" ? problemOfKeys(metadata) : undefined)))
      .check(failsIf((metadata) => lengthProblem(wireText(metadata), MAX_METADATA)))
      .optional(),
    parse: (written) => metadataFromText(written).data,
    omitted: "cleared",
  },
  bindings: {
    reply: z.array(z.string()).optional(),
    input: z
      .array(textInput.min(1, "must not contain an empty name"), {
        error: (issue) => `must be a list of names, not ${kindOf(issue.input)}`,
      })
      .min(1, "must name at least one binding; remove bindings to let the service decide")
      .check(failsIf(duplicateProblem))
      .optional(),
    isSame: sameSet,
    omitted: "serviceDefault",
    withUrl: "recomputed",
  },
  poolingEnabled: {
    reply: z.boolean().optional(),
    input: z.boolean({ error: (issue) => `must be true or false, not ${kindOf(issue.input)}` }).optional(),
    // Services omit the field of an endpoint that is not pooled.
    isSame: (live, wanted) => (live === true) === wanted,
    omitted: "serviceDefault",
  },
  trafficPolicy: {
    reply: textReply,
    input: document(isMapping)
      .transform((policy, context): JsonObject => asData(policy, policyFromText, context) as JsonObject)
      .check(failsIf(numberedPhases))
      .check(failsIf(missingSecretProblem))
      .optional(),
    parse: (written) => {
      const parsed = policyFromText(written);
      return "data" in parsed ? parsed.data : written;
    },
    omitted: "kept",
  },
  adopt: {
    input: z
      .string({ error: (issue) => (issue.input === true ? ADOPT_TRUE : ADOPT_FORM) })
      .regex(/^ep_\w+$/, ADOPT_FORM)
      .optional(),
  },
  type: { reply: textReply },
  publicUrl: { reply: textReply, withUrl: "derived" },
  hostport: { reply: textReply, withUrl: "derived" },
  proto: { reply: textReply, withUrl: "derived" },
  scheme: { reply: textReply, withUrl: "recomputed" },
  host: { reply: textReply, withUrl: "recomputed" },
  port: { reply: z.int().optional(), withUrl: "recomputed" },
  domain: { reply: ref, withUrl: "recomputed" },
  tcpAddr: { reply: ref, withUrl: "recomputed" },
  region: { reply: textReply, withUrl: "recomputed" },
  createdAt: { reply: textReply },
  updatedAt: { reply: textReply },
  uri: { reply: textReply },
  name: { reply: textReply },
  principal: { reply: ref },
  principalId: { reply: z.union([refSchema, z.string().transform((id) => ({ id }))]).optional() },
  tunnel: { reply: ref },
  tunnelSession: { reply: ref },
  edge: { reply: ref },
  upstreamUrl: { reply: textReply },
  upstreamProto: { reply: textReply, alias: "upstream_protocol" },
} satisfies Rows;

type Table = typeof rows;
type Named<Part> = { [Name in keyof Table]: Table[Name] extends Part ? Name : never }[keyof Table];
type Output = Named<{ reply: z.ZodType }>;
type Input = Named<{ input: z.ZodType }>;

/** An input that describes an endpoint, and that an update can send. */
export type ManagedInput = Output & Input;

const names = Object.keys(rows) as (keyof Table)[];
const row = (name: string): (Row & { reply?: z.ZodType; input?: z.ZodType }) | undefined =>
  Object.hasOwn(rows, name) ? rows[name as keyof Table] : undefined;
const namesWith = (fits: (row: Row) => boolean) => names.filter((name) => fits(row(name) ?? {}));

function column<Part extends "reply" | "input", Name extends keyof Table>(part: Part) {
  const all = names.flatMap((name) => (part in rows[name] ? [[name, row(name)?.[part]]] : []));
  return Object.fromEntries(all) as {
    [N in Name]: Table[N] extends { [P in Part]: infer Check } ? Check : never;
  };
}

/** The checks of replies. */
export const endpointFields = column<"reply", Output>("reply");

/** The names of an endpoint's fields. */
export const fieldNames = names.filter((name): name is keyof Endpoint & Output => name in endpointFields);

/** The checks of inputs. */
export const inputFields = column<"input", Input>("input");

/** Checked inputs in the form of the state: URL normalized, policy and metadata as data. Any part may be unknown. */
export type PreviewInputs = z.output<z.ZodObject<typeof inputFields>>;

declare const withoutUnknown: unique symbol;

/** Checked inputs without an unknown part. Only `knownInputs` returns them. */
export type Inputs = PreviewInputs & { readonly [withoutUnknown]: true };

export const managedInputs = names.filter(
  (name): name is ManagedInput => name in endpointFields && name in inputFields,
);

/** Inputs that are no fields of an endpoint, and only affect a create. */
export const createOnlyInputs = names.filter((name) => name in inputFields && !(name in endpointFields));

const managedWith = (...omitted: Row["omitted"][]) =>
  managedInputs.filter((name) => omitted.includes(row(name)?.omitted));

/** Inputs that keep their value if the program leaves them out. */
export const keptWhenOmitted = managedWith("kept", "serviceDefault");

/** Inputs for which the service chooses a default if the program leaves them out. The state notes it. */
export const serviceDefaulted = managedWith("serviceDefault");

/** Inputs that hold the user's own text or data, or nothing. */
export const userTexts = managedWith("cleared", "kept");

export const documentFields = managedInputs.filter(
  (name): name is Named<{ parse: (text: string) => unknown }> => row(name)?.parse !== undefined,
);

/** Fields that the contract derives from the URL. */
export const urlDerivedFields = namesWith(({ withUrl }) => withUrl === "derived");

/** Fields that the service may change with the URL, besides those that the contract derives from it. */
export const recomputedWithUrl = namesWith(({ withUrl }) => withUrl === "recomputed");

/** Inputs that are cleared if the program leaves them out. */
export const clearedInputs = managedWith("cleared");

/** Whether the order of a list's members has no meaning. */
export const isUnordered = (name: ManagedInput): boolean => row(name)?.isSame === sameSet;

/** The inputs that the program sets, among those that keep their value when omitted. The state notes them. */
export const inputsSetByProgram = (news: Partial<Record<ManagedInput, unknown>>): ManagedInput[] =>
  keptWhenOmitted.filter((name) => news[name] !== undefined);

/** Whether a live value satisfies the program's value. An unknown value differs from every live value. */
export function isSatisfied(name: ManagedInput, live: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return live === undefined || live === "";
  const isSame = row(name)?.isSame;
  return isSame ? isSame(live, wanted) : live !== undefined && sameData(live, wanted);
}

/** An input's value in a request. An empty text clears it. Undefined if the service keeps it. */
export function wireValue(name: ManagedInput, value: unknown): unknown {
  if (value === undefined) return row(name)?.omitted === "cleared" ? "" : undefined;
  return row(name)?.parse ? wireText(value) : value;
}

/** The conversions of an endpoint of the wire, for `EndpointsApi`. */
export const endpointParsers = parsersOf(
  endpointFields,
  names.flatMap((name): [string, string][] => {
    const alias = row(name)?.alias;
    return alias === undefined ? [] : [[alias, name]];
  }),
);

/** Properties with their documents as data, for comparisons and diffs. Text that does not parse is unchanged. */
export function documentsAsData(props: JsonObject): JsonObject {
  return mapDocuments(props, (value, name) =>
    typeof value === "string" && value !== UNKNOWN ? row(name)?.parse?.(value) : value,
  );
}

/** Properties with their documents as canonical text, for outputs. */
export function documentsAsText(props: JsonObject): JsonObject {
  return mapDocuments(documentsAsData(props), wireText);
}

/** Properties with their documents as text, for a preview. A document with an unknown part is unknown as a whole. */
export function documentsForPreview(props: JsonObject): JsonObject {
  return mapDocuments(props, (value) => (hasUnknown(value) ? UNKNOWN : wireText(value)));
}

function mapDocuments(props: JsonObject, map: (value: unknown, name: ManagedInput) => unknown): JsonObject {
  const fields = documentFields.filter((name) => props[name] !== undefined);
  return { ...props, ...Object.fromEntries(fields.map((name) => [name, map(props[name], name)])) };
}

/** Policies and metadata: data, or text. */
function document(isData: (value: unknown) => boolean) {
  return z.custom<object | string>((value) => typeof value === "string" || isData(value), {
    error: (issue) => `must be an object or text, not ${kindOf(issue.input)}`,
  });
}
function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** A check that reports the problem of a value. */
function failsIf<T>(problemOf: (value: T) => string | undefined): z.core.CheckFn<T> {
  return (context) => {
    const message = problemOf(context.value);
    if (message) context.issues.push({ code: "custom", message, input: context.value });
  };
}

/** Parses text, and reports each value that JSON cannot carry, with its path. */
function asData(value: object | string, parse: (text: string) => Parsed, context: z.RefinementCtx): unknown {
  const parsed: Parsed = typeof value === "string" ? parse(value) : { data: value };
  // The parser has checked the values of a text.
  const ofData = typeof value === "string" ? [] : problemsOfData(value);
  const problems = "problem" in parsed ? [parsed.problem] : ofData;
  for (const message of problems) context.issues.push({ code: "custom", message, input: undefined });
  return "data" in parsed ? parsed.data : z.NEVER;
}

/** The problem of a policy with a credential or a secret in which a value is missing. */
function missingSecretProblem(policy: JsonObject): string | undefined {
  const missing = missingSecret(policy);
  return missing && `at ${pathText(missing.path)} ${missing.reason}`;
}

function lengthProblem(value: string, most: number): string | undefined {
  const length = [...value].length;
  return length > most ? `must have at most ${most} characters, but has ${length}` : undefined;
}

function duplicateProblem(names: string[]): string | undefined {
  const known = new Set<string>();
  const twice = names.findIndex((name) => known.has(name) || !known.add(name));
  return twice === -1 ? undefined : `has a duplicate at [${twice}]; give each binding once`;
}

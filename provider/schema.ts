import { z } from "zod";
import { isMapping, type JsonObject } from "./api/json";
import { MAX_METADATA } from "./api/mark";
import { normalizeUrl, urlProblem } from "./api/url";
import { metadataFromText, policyFromText, problemsOfData, wireText } from "./document";
import type { Parsed } from "./parse";

/*
 * Every input of the package, once. The comment on a field is its documentation: editors show it through the types
 * inferred below, and the reference pages are generated from it. The schema on a field is its check.
 */

/** Most characters that the service takes in a description (documented with its error 18012). */
export const MAX_DESCRIPTION = 255;

const text = z.string({ error: (issue) => `must be text, not ${kindOf(issue.input)}` });
const flag = z.boolean({ error: (issue) => `must be true or false, not ${kindOf(issue.input)}` });

/** Data or text: what policies and metadata are written as. */
function document(isData: (value: unknown) => boolean) {
  return z.custom<object | string>((value) => typeof value === "string" || isData(value), {
    error: (issue) => `must be an object or text, not ${kindOf(issue.input)}`,
  });
}

/** What a program gives to a cloud endpoint. Each schema turns what was written into the form that the state holds. */
export const inputFields = {
  /**
   * The address that the endpoint serves: `https`, `http`, `tls` or `tcp`, a host and, where it is not the scheme's
   * own, a port: `https://shop.example.com`, `tcp://1.tcp.example.com:12345`, `https://*.example.com`.
   * Letter case, a default port and a trailing slash do not matter. No path, query or credentials.
   * Another URL with the same scheme is an update in place; another scheme replaces the endpoint.
   */
  url: text
    .check((context) => refuse(context, urlProblem(context.value)))
    .transform((url) => normalizeUrl(url) ?? url),

  /**
   * What happens to traffic: an object, or text holding JSON or YAML. Compared as data, so key order, spaces and
   * YAML comments are never a change; the order of a list is. The contract leaves it optional; the public service
   * demands one that ends in an action that answers. Once given it can be changed, not taken out.
   */
  trafficPolicy: document(isMapping)
    .transform((policy, context): JsonObject => asData(policy, policyFromText, context) as JsonObject)
    .optional(),

  /** A text for people, at most 255 characters. Taken out of the program, it is cleared on the service. Default: none. */
  description: text.check((context) => refuse(context, tooLong(context.value, MAX_DESCRIPTION))).optional(),

  /**
   * Data of your own, an object or text, at most 4,096 characters as compact JSON. Text that holds a JSON object or
   * list is kept as data, other text as it is. Taken out of the program, it is cleared on the service. Default: none.
   */
  metadata: document((value) => isMapping(value) || Array.isArray(value))
    .transform(
      (metadata, context) => asData(metadata, metadataFromText, context) as JsonObject | unknown[] | string,
    )
    .check((context) => refuse(context, tooLong(wireText(context.value), MAX_METADATA)))
    .optional(),

  /**
   * Where the endpoint can be reached from: `public`, `internal` or `kubernetes` on the public service. Order never
   * matters. Default: the service decides, from the URL. A hand edit of its choice is drift. Taken out of the program, it
   * is the service's again, which keeps what is there.
   */
  bindings: z
    .array(text.min(1, "must not hold an empty name"), {
      error: (issue) => `must be a list of names, not ${kindOf(issue.input)}`,
    })
    .min(1, "must name at least one binding; leave bindings out to let the service decide")
    .check((context) => refuse(context, repeated(context.value)))
    .optional(),

  /**
   * Whether other endpoints may share this URL and its traffic. Sent only when given, or to undo a hand edit. Default: the
   * service's, `false`.
   */
  poolingEnabled: flag.optional(),

  /**
   * Take over an endpoint that is there already, instead of creating one: `true` for the cloud endpoint with this
   * URL, or its id (`ep_…`). Only what differs is changed. Has no effect after the first `up`, and can be taken out.
   * Default: `false`; nothing is ever taken over unasked.
   */
  adopt: z
    .union([z.boolean(), z.string().regex(/^ep_\w+$/, "must be true, or an endpoint's id (ep_…)")], {
      error: "must be true, or an endpoint's id (ep_…)",
    })
    .optional(),
};

type Shape<T extends z.ZodRawShape> = z.ZodObject<T>;

/** What a program may write for a cloud endpoint. */
export type CloudEndpointWritten = z.input<Shape<typeof inputFields>>;
/** The same, checked: URL normalized, policy and metadata as data. This is what the state holds as inputs. */
export type CloudEndpointInputs = z.output<Shape<typeof inputFields>>;

function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function refuse(context: { issues: z.core.$ZodRawIssue[]; value: unknown }, reason: string | undefined) {
  if (reason) context.issues.push({ code: "custom", message: reason, input: context.value });
}

/** Parses text, and reports everything that could not travel as JSON under its own path. */
function asData(value: object | string, parse: (text: string) => Parsed, context: z.RefinementCtx): unknown {
  const parsed: Parsed = typeof value === "string" ? parse(value) : { data: value };
  const problems = "problem" in parsed ? [parsed.problem] : problemsOfData(parsed.data);
  for (const { path, reason } of problems) {
    context.issues.push({ code: "custom", message: reason, path: [path], input: undefined });
  }
  return "data" in parsed ? parsed.data : z.NEVER;
}

function tooLong(value: string, most: number): string | undefined {
  const length = [...value].length;
  return length > most ? `holds at most ${most} characters; this one has ${length}` : undefined;
}

function repeated(names: string[]): string | undefined {
  const seen = new Set<string>();
  const twice = names.findIndex((name) => seen.has(name) || !seen.add(name));
  return twice === -1 ? undefined : `names one twice, at [${twice}]; give each binding once`;
}

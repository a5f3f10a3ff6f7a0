import { type ActionInfo, actions, type KeyInfo } from "../../policy/catalogue";
import type { PolicyTarget } from "../../policy/warnings";
import { UNKNOWN } from "../unknown";

/* Policies with and without mistakes, for the tests of the warnings and the JSON Schema. */

type Data = Record<string, unknown>;

export const act = (type: string, config?: unknown): Data => ({
  type,
  ...(config !== undefined && { config }),
});
export const rule = (...list: unknown[]): Data => ({ actions: list });
export const onRequest = (...list: unknown[]): Data => ({ on_http_request: list });
const onConnect = (...list: unknown[]): Data => ({ on_tcp_connect: list });
export const onResponse = (...list: unknown[]): Data => ({ on_http_response: list });
/** A policy with one action for requests. */
const one = (type: string, config?: unknown): Data => onRequest(rule(act(type, config)));

const answer = rule(act("custom-response", { body: "hello" }));
const forward = rule(act("forward-internal", { url: "https://app.internal" }));
const limit = {
  name: "a",
  algorithm: "sliding_window",
  capacity: 1,
  rate: "60s",
  bucket_key: ["conn.client_ip"],
};

/** A mistake: its name, the policy, the places and reasons of the warnings, and the endpoint. */
type Mistake = [what: string, policy: unknown, at: string | string[], reason: RegExp, target?: PolicyTarget];

const cloud = (url: string): PolicyTarget => ({ url, isCloud: true });
const https = cloud("https://shop.example.com");
const tcp = cloud("tcp://1.tcp.example.com:12345");
const tls = cloud("tls://shop.example.com");
const TYPE = "on_http_request[0].actions[0].type";
const CONFIG = "on_http_request[0].actions[0].config";

// biome-ignore format: one line for each mistake
export const mistakes: Mistake[] = [
  // Phases
  ["a phase with a letter missing", { on_http_requst: [answer] }, "on_http_requst", /did you mean on_http_request\?/],
  ["the phase inbound of older policies", { inbound: [answer] }, "inbound", /did you mean on_http_request\?/],
  ["requests of a tcp endpoint", { ...onConnect(rule(act("deny"))), ...onRequest() }, "on_http_request", /is no phase of tcp endpoints, only of http and https/, tcp],
  ["connections of an internal https endpoint", { ...onConnect(rule(act("deny"))) }, "on_tcp_connect", /is no phase of internal https endpoints/, cloud("https://app.internal")],
  ["connections of an endpoint with the binding internal", onConnect(rule(act("deny"))), "on_tcp_connect", /is no phase of internal http endpoints/, { url: "http://app.example.com", bindings: ["internal"] }],
  // Rules
  ["a rule that is an action", onRequest(act("deny")), "on_http_request[0]", /is an action, but a rule is expected/],
  ["a rule without actions", onRequest({ name: "nothing" }), "on_http_request[0].actions", /is missing; a rule needs it/],
  ["a rule with an empty list of actions", onRequest(rule()), "on_http_request[0].actions", /is empty/],
  ["action for actions", onRequest({ action: [act("deny")] }), ["on_http_request[0].action", "on_http_request[0].actions"], /did you mean actions\?|is missing/],
  // Actions
  ["an action without type", onRequest(rule({ config: {} })), TYPE, /is missing; an action needs it/],
  ["a key of the config beside it", onRequest(rule({ type: "deny", status_code: 404 })), "on_http_request[0].actions[0].status_code", /an action has type and config/],
  ["an action with a letter missing", one("custom-respons", {}), TYPE, /did you mean custom-response\?/],
  ["an unknown action", one("teleport", {}), TYPE, /^"teleport" is no action known to this version; ignore this if the service now supports it/],
  ["an action that could be a secret", one("Tr0ub4dor&3", {}), TYPE, /^is no action known to this version; ignore this/],
  ["a deprecated action, with any config", onRequest(rule(act("ai-gateway", { providers: [{ id: "a" }] }))), TYPE, /^is ai-gateway, which the service has deprecated; see https:\S+\/ai-gateway$/, https],
  ["deny for responses", onResponse(rule(act("deny"))), "on_http_response[0].actions[0].type", /deny, which runs in on_tcp_connect, on_http_request, not in on_http_response/],
  ["terminate-tls of a tcp endpoint", onConnect(rule(act("terminate-tls"), act("deny"))), "on_tcp_connect[0].actions[0].type", /for https and tls endpoints, not for tcp/, tcp],
  // Configs
  ["a config that is text", one("deny", "404"), CONFIG, /must be a mapping/],
  ["a key with its letters swapped", one("deny", { stauts_code: 404 }), `${CONFIG}.stauts_code`, /did you mean status_code\?/],
  ["location for to", one("redirect", { location: "https://a.example.com" }), [`${CONFIG}.location`, `${CONFIG}.to`], /did you mean to\?|is missing/],
  ["a key of an action that has none", one("close-connection", { status_code: 1 }), `${CONFIG}.status_code`, /close-connection takes none/],
  ["an unknown key of a config", one("deny", { body: "no" }), `${CONFIG}.body`, /is no key of deny known to this version; deny has status_code/],
  ["the deprecated name of a key, whose expressions are checked, too", one("custom-response", { content: "req.host" }), [`${CONFIG}.content`, `${CONFIG}.content`], /^is the deprecated name of body; write body$|^is text, although it names a variable/],
  ["a header without a value", one("add-headers", { headers: { "x-a": null } }), `${CONFIG}.headers.x-a`, /^is null, but must be text; give it a value, or leave it out$/],
  ["credentials without a colon, or with a password of the wrong length", one("basic-auth", { credentials: ["password1", "me:short123", "me:1234567", `me:${"x".repeat(129)}`] }), [0, 2, 3].map((index) => `${CONFIG}.credentials[${index}]`), /^must be name:password, with a password of 8 to 128 characters$/],
  ["credentials as a mapping", one("basic-auth", { credentials: [{ username: "me", password: "password1" }] }), `${CONFIG}.credentials[0]`, /^must be name:password, with a password of 8 to 128/],
  ["a forward to nowhere", one("forward-internal"), `${CONFIG}.url`, /is missing; forward-internal needs it/],
  ["a forward to a host without a scheme", one("forward-internal", { url: "app.internal" }), `${CONFIG}.url`, /has no scheme; write the whole URL/],
  ["a forward to this machine", one("forward-internal", { url: "http://localhost:3000" }), `${CONFIG}.url`, /^is no internal endpoint; forward to one of your account, whose host ends with \.internal, as in /],
  ["a forward to a public URL", one("forward-internal", { url: "https://api.example.com/" }), `${CONFIG}.url`, /^is no internal endpoint/],
  ["an expression with a ? and a colon, which YAML takes for a mapping", onRequest({ ...answer, expressions: [{ "req.host == 'x' ? true": false }] }), "on_http_request[0].expressions[0]", /^is a mapping, but an expression is text; put all of it in quotes$/],
  ["an expression that YAML takes for a truth value", onRequest({ ...answer, expressions: [true] }), "on_http_request[0].expressions[0]", /^is a boolean, but an expression is text/],
  ["a limit by a number", one("rate-limit", { ...limit, bucket_key: [1] }), `${CONFIG}.bucket_key[0]`, /^is a number, but an expression is text/],
  ["a status in quotes", one("deny", { status_code: "404" }), `${CONFIG}.status_code`, /is text, but must be a number; remove the quotes/],
  ["a limit without its keys", one("rate-limit", { name: "a", capacity: 1 }), [`${CONFIG}.algorithm`, `${CONFIG}.rate`, `${CONFIG}.bucket_key`], /is missing; rate-limit needs it/],
  ["a replacement without from", one("request-body-find-replace", { replacements: [{ to: "a" }] }), `${CONFIG}.replacements[0].from`, /is missing; replacements of request-body-find-replace needs it/],
  // Answers
  ["no rule", {}, "", /has no action that answers/, https],
  ["a limit alone", one("rate-limit", limit), "", /has no action that answers/, https],
  ["an answer to requests of a tcp endpoint", onRequest(answer), ["on_http_request", ""], /is no phase of tcp endpoints|has no action that answers/, tcp],
];

/** Whether the JSON Schema finds the mistake: it knows names and shapes, but no endpoint. */
export const isOfShape = ([, , , reason, target]: Mistake) =>
  !target && !/no scheme|no internal|deprecated|128/.test(reason.source);

/** A valid value of a key. */
function sampleOf(key: KeyInfo, text: string): unknown {
  const item = itemOf(key, text);
  return key.list === true ? [item] : item;
}

function itemOf({ kind, keys, values, isInternalUrl, isCredentials }: KeyInfo, text: string): unknown {
  if (isCredentials) return text.includes("${") ? text : `${text}:password`;
  if (isInternalUrl) return text.includes("${") ? text : `https://${text}.internal`;
  if (keys) return configOf(Object.entries(keys), text);
  if (kind === "map of text") return { "x-a": text };
  if (kind === "map") return { a: text };
  if (kind === "integer" || kind === "number") return 1;
  if (kind === "boolean") return true;
  if (kind === "duration") return "60s";
  return values?.[0] ?? text;
}

/** The keys whose whole text is an expression. */
const EXPRESSIONS = ["bucket_key", "retry_condition"];

const configOf = (keys: [string, KeyInfo][], text: string): Data =>
  Object.fromEntries(
    keys.map(([name, key]) => [name, sampleOf(key, EXPRESSIONS.includes(name) ? "true" : text)]),
  );

/** For each action and phase: policies with the required keys, with all keys, and with expressions. */
export const rightPolicies: [what: string, policy: Data][] = Object.entries<ActionInfo>(actions).flatMap(
  ([type, { phases, keys, isDeprecated }]) => {
    if (isDeprecated) return [];
    const all = Object.entries(keys).filter(([, { deprecatedFor }]) => deprecatedFor === undefined);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as policies have it
    const inText = "${conn.client_ip}";
    const configs = {
      "its required keys": configOf(
        all.filter(([, { required }]) => required),
        "text",
      ),
      "all keys": configOf(all, "text"),
      expressions: configOf(
        all.filter(([, { required, cel }]) => required || cel),
        inText,
      ),
    };
    return phases.flatMap((phase) =>
      Object.entries(configs).map(([what, config]): [string, Data] => [
        `${type} with ${what} in ${phase}`,
        { [phase]: [rule(act(type, config))] },
      ]),
    );
  },
);

const redirect = rule(act("redirect", { to: "https://a.example.com" }));
const forwardOrGoOn = rule(act("forward-internal", { url: "https://a.internal", on_error: "continue" }));

/** Policies without mistakes that have several rules, or keys with more than one form. */
// biome-ignore format: one line for each policy
const moreRight: [what: string, policy: Data, target?: PolicyTarget][] = [
  ["a phase without rules", { on_http_request: null }, { url: "https://shop.example.com" }],
  ["a forward that continues after an error, and a fallback", onRequest(forwardOrGoOn, answer)],
  ["a redirect at the end", onRequest(redirect)],
  ["an answer to connections", onConnect(rule(act("forward-internal", { url: "tls://a.internal:443" }))), tls],
  ["TLS that the endpoint terminates", onConnect(rule(act("terminate-tls", { min_version: "1.3" })), rule(act("deny"))), tls],
  ["client certificates' authorities as a text", onConnect(rule(act("terminate-tls", { mutual_tls_certificate_authorities: "ca_123" }), act("deny"))), tls],
  ["a retry condition that YAML takes for its default", onRequest(rule(act("http-request", { url: "https://a", retry_condition: "false" })), answer)],
  ["a rule that is unknown", onRequest(UNKNOWN)],
  ["a type that is unknown", onRequest(rule({ type: UNKNOWN, config: { a: 1 } }))],
  ["values that are unknown", onRequest(rule(act("basic-auth", { credentials: UNKNOWN }), act("forward-internal", { url: UNKNOWN, on_error: UNKNOWN })))],
  ["expressions that are unknown", onRequest({ ...answer, expressions: UNKNOWN }, forward)],
  ["a URL that is unknown", onRequest(answer), { url: UNKNOWN, isCloud: true }],
  ["a limit for an agent", one("rate-limit", limit), { url: "https://shop.example.com" }],
];

/** Policies without mistakes for an endpoint. Default: a cloud endpoint with https. */
export const moreRightPolicies = moreRight.map(
  ([what, policy, target = https]): [string, Data, PolicyTarget] => [what, policy, target],
);

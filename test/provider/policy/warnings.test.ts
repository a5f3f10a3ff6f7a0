import { describe, expect, test } from "vitest";
import { pathText, UNKNOWN } from "../../../provider/document";
import { type ActionInfo, actions, phases } from "../../../provider/policy/catalogue";
import { mayAnswer, policyWarnings, warningText } from "../../../provider/policy/warnings";
import { act, mistakes, moreRightPolicies, onRequest, rightPolicies, rule } from "./cases";

/** Every action of the documentation, with its keys; those after the bar are nested. */
const DOCUMENTED: Record<string, string> = {
  "add-headers": "headers",
  "basic-auth": "credentials realm enforce",
  "circuit-breaker": "error_threshold volume_threshold window_duration tripped_duration num_buckets enforce",
  "close-connection": "",
  "compress-response": "algorithms",
  "custom-response": "status_code body headers",
  deny: "status_code",
  "forward-internal": "url on_error",
  "http-request":
    "url method query_params headers body max_redirects timeout retry_condition on_error | key value",
  "jwt-validation":
    "issuer audience http jws | allow_list value tokens type method name prefix allowed_algorithms keys identification token_claims sources additional_jkus",
  log: "metadata",
  oauth:
    "provider auth_id client_id client_secret scopes authz_url_params max_session_duration idle_session_timeout userinfo_refresh_interval allow_cors_preflight auth_cookie_domain",
  "openid-connect":
    "issuer_url auth_id client_id client_secret scopes authz_url_params max_session_duration idle_session_duration userinfo_refresh_interval allow_cors_preflight auth_cookie_domain",
  "owasp-crs-request": "on_error process_body exclude_rule_ids",
  "owasp-crs-response": "on_error process_body exclude_rule_ids",
  "rate-limit": "name enforce algorithm capacity rate bucket_key",
  redirect: "from to status_code headers",
  "remove-headers": "headers",
  "request-body-find-replace": "replacements | from to",
  "response-body-find-replace": "replacements | from to",
  "restrict-ips": "enforce allow deny ip_policies",
  "set-vars": "vars",
  "sse-find-replace": "replacements | field from to",
  "terminate-tls":
    "min_version max_version server_private_key server_certificate mutual_tls_certificate_authorities mutual_tls_verification_strategy",
  "url-rewrite": "from to",
  "verify-webhook": "provider secret enforce",
};

describe("the catalogue", () => {
  test("has every phase, action and key of the documentation", () => {
    expect(Object.keys(phases)).toHaveLength(4);
    expect(Object.keys(actions).sort()).toEqual(Object.keys(DOCUMENTED).sort());
    for (const [type, { keys }] of Object.entries<ActionInfo>(actions)) {
      const [own = "", nested = ""] = (DOCUMENTED[type] ?? "").split("|");
      expect(Object.keys(keys), type).toEqual(expect.arrayContaining(own.split(" ").filter(Boolean)));
      const written = JSON.stringify(keys);
      for (const key of nested.split(" ").filter(Boolean)) expect(written, type).toContain(`"${key}":{`);
    }
  });

  test("finds what can answer, and counts unknown actions as such", () => {
    const answering = Object.keys(actions).filter(mayAnswer);
    expect(answering).toEqual([
      "close-connection",
      "custom-response",
      "deny",
      "forward-internal",
      "redirect",
    ]);
    expect([mayAnswer("new-action"), mayAnswer(undefined), mayAnswer("toString")]).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe("a mistake is found in its place", () => {
  test("in more than sixty kinds", () => expect(mistakes.length).toBeGreaterThan(60));

  test.each(mistakes)("$what", ({ policy, at, reason, target }) => {
    const warnings = policyWarnings(policy, target);
    expect(warnings.map(({ path }) => pathText(path))).toEqual([at].flat());
    for (const warning of warnings) expect(warning.reason).toMatch(reason);
  });

  test("for several mistakes, in the order of the policy", () => {
    const policy = { on_http_requst: [], ...onRequest(rule(act("dney")), { action: [] }) };
    expect(policyWarnings(policy).map(({ path }) => pathText(path))).toEqual([
      "on_http_requst",
      "on_http_request[0].actions[0].type",
      "on_http_request[1].action",
      "on_http_request[1].actions",
    ]);
  });
});

describe("no warning is for", () => {
  test.each(rightPolicies)("%s", (_, policy) => expect(policyWarnings(policy)).toEqual([]));
  test.each(moreRightPolicies)("%s", (_, policy, target) =>
    expect(policyWarnings(policy, target)).toEqual([]),
  );
  test.each([[undefined], [null], [UNKNOWN], ["text"], [[]], [7]])("what is no policy: %j", (policy) =>
    expect(policyWarnings(policy, { isCloud: true })).toEqual([]),
  );
});

test("a warning is one line that quotes no value", () => {
  const canary = "CANARY-77ab";
  const policy = onRequest(
    { name: canary, expressions: canary, actions: [act(canary, { [`key\n${"x".repeat(90)}`]: canary })] },
    rule(act("deny", { status_code: canary, body: canary }), act("forward-internal", canary)),
    canary,
  );
  const texts = policyWarnings(policy, { url: "https://a.example.com" }).map((one) => warningText(one, "it"));
  expect(texts.length).toBeGreaterThan(4);
  expect(texts.join("")).not.toContain(canary);
  for (const text of texts) expect(text).not.toContain("\n");
});

test("a policy with a mistake in every rule has no more warnings than a person reads", () => {
  const policy = onRequest(...Array.from({ length: 1000 }, () => rule(act("dney", { a: 1 }))));
  expect(policyWarnings(policy)).toHaveLength(100);
});

import { describe, expect, test } from "vitest";
import { misspeltHeaders } from "../../../provider/policy/headerNames";
import { expectLinear } from "../../growth";

const found = (expression: string) =>
  misspeltHeaders({ expressions: [expression] }).map(({ asked, name, right }) => [asked, name, right]);

describe("a header's name in an expression", () => {
  test.each([
    ["req.headers['X-GitHub-Event'][0] == 'push'", "req.headers", "X-GitHub-Event", "x-github-event"],
    ['"push" in req.headers["X-Github-Event"]', "req.headers", "X-Github-Event", "x-github-event"],
    ["res.headers[ 'Content-Type' ].join(',') == 'a'", "res.headers", "Content-Type", "content-type"],
    ["req.headers.get('X-Secret') != 'x'", "req.headers", "X-Secret", "x-secret"],
    ["'X-GitHub-Event' in req.headers", "req.headers", "X-GitHub-Event", "x-github-event"],
    ["has(req.headers.Authorization)", "req.headers", "Authorization", "authorization"],
    ["req.headers.exists_one(x, x == 'X-Canary')", "req.headers", "X-Canary", "x-canary"],
    ["getReqHeader('X-GitHub-Event')[0] == 'push'", "getReqHeader", "X-GitHub-Event", "X-Github-Event"],
    ['hasResHeader("x-Hub-signature")', "hasResHeader", "x-Hub-signature", "X-Hub-Signature"],
  ])("that never matches is found, with a correction: %s", (expression, ...expected) => {
    expect(found(expression)).toEqual([expected]);
  });

  test.each([
    "req.headers['x-github-event'][0] == 'Push' && 'x-hub' in req.headers",
    "req.headers[\"x-github-event\"].exists(Value, Value == 'Push')",
    "req.headers.exists_one(x, x == 'x-canary') || has(req.headers.host)",
    "'Fizz' in req.headers['baz'] || 'Fizz' in res.headers.baz",
    "hasReqHeader('X-Github-Event') && getReqHeader('x-github-event')[0] == 'Push'",
    "req.cookies['Session'][0].value == 'A' && req.url.query_params['Page'] == ['A']",
    "xreq.headers['X-A'] == 'B'",
    "req.headers[Name]",
  ])("that can match causes no warning: %s", (expression) => {
    expect(found(expression)).toEqual([]);
  });

  test("is looked for in all expressions of a policy, and not in other texts", () => {
    const action = (config: object) => ({ actions: [{ type: "a", config }] });
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
    const places = misspeltHeaders({
      on_http_request: [
        { expressions: ["true", "req.headers['A'] == req.headers['B']"], ...action({}) },
        action({ bucket_key: ["req.headers['C']"] }),
        action({ headers: { "x-a": "${req.method} is ${req.headers['D'][0]}" } }),
        action({ body: "write req.headers['E']" }),
      ],
      on_http_response: [{ expressions: "res.headers['F']" }],
    }).map(({ place, name }) => `${name} at ${place}`);
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above
    expect(places).toEqual([
      "A at on_http_request[0].expressions[1]",
      "B at on_http_request[0].expressions[1]",
      "C at on_http_request[1].actions[0].config.bucket_key[0]",
      "D at on_http_request[2].actions[0].config.headers.x-a",
      "F at on_http_response[0].expressions",
    ]);
    for (const none of [undefined, null, 1, "req.headers['A']", [], {}]) {
      expect(misspeltHeaders(none)).toEqual([]);
    }
  });

  test.each([
    "req.headers['",
    "req.headers[ ",
    "'a' ",
    "'a' in ",
    "${",
    "${req.headers['A",
    "req.headers.a(x, ",
    "getReqHeader('A",
    "req.headers['A']",
  ])("is found in linear time in a text that repeats %j", async (part) => {
    const policyOf = (times: number) => ({ expressions: part.repeat(times), body: part.repeat(times) });
    await expectLinear(policyOf, misspeltHeaders, 4_000);
  });
});

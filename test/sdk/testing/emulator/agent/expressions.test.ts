import { describe, expect, test } from "vitest";
import { compile } from "../../../../../sdk/testing/emulator/agent/expressions";
import { parseTarget } from "../../../../../sdk/testing/emulator/agent/target";
import type { Visit } from "../../../../../sdk/testing/emulator/agent/variables";

const target = parseTarget("/a%20b/c?q=1&q=2&constructor=3");
if (!target) throw new Error("the target is one");
const visit: Visit = {
  method: "POST",
  target,
  version: "1.1",
  headers: {
    host: "hooks.example.com:8080",
    "user-agent": "curl/8",
    cookie: "a=1; b=2; a=3",
    "content-type": "application/json; charset=utf-8",
    "content-length": "2",
  },
  headerLists: { "x-version-id": ["1", "2"], host: ["hooks.example.com:8080"] },
  body: Buffer.from("{}"),
};
const holds = async (expression: string) =>
  (await compile([expression], "rule"))(visit, new Map([["ngrok", new Map()]]));

describe("an expression", () => {
  test.each([
    "req.method == 'POST' && req.version == 'HTTP/1.1'",
    "req.host == 'hooks.example.com:8080' && req.url.host == 'hooks.example.com'",
    "req.url.path == '/a b/c' && req.url.raw_path == '/a%20b/c'",
    "req.url.query == 'q=1&q=2&constructor=3' && req.url.query_params['q'] == ['1', '2']",
    "req.user_agent.contains('curl') && req.content_type == 'application/json' && req.content_length == 2",
    "'2' in req.headers['x-version-id'] && req.headers['x-version-id'][0] == '1'",
    "req.headers['x-version-id'].exists(value, value.startsWith('2'))",
    "size(req.cookies) == 2 && req.cookies['a'][1].value == '3' && req.cookies['b'].all(c, c.name == 'b')",
    "hasReqHeader('X-Version-Id') && !hasReqHeader('X-Other')",
    "getReqHeader('X-Version-Id') == ['1', '2'] && size(getReqHeader('X-Other')) == 0",
    "hasQueryParam('q') && getQueryParam('q')[1] == '2' && !hasQueryParam('x')",
    "has(req.headers.host) && !has(req.headers.constructor) && !has(actions.ngrok.verify_webhook)",
    "req.method.lowerAscii() == 'post' && req.url.path.split('/').size() == 3",
    "{'a': 1}['a'] == 1 && type(req.method) == string ? true : false",
  ])("can ask for what the service documents: %s", async (expression) => {
    expect(await holds(expression)).toBe(true);
  });

  test.each([
    "req.headers['x-nope'][0] == 'a'",
    "req.cookies['nope'][0].value == 'a'",
    "actions.ngrok.verify_webhook.verified",
    "req.url.query_params['constructor'][5] == ''",
    "req.method",
  ])("is not true where it cannot be evaluated, or is no truth: %s", async (expression) => {
    expect(await holds(expression)).toBe(false);
  });

  test.each([
    ["conn.client_ip == '1.2.3.4'", "the variable conn.client_ip"],
    ["req.url.paht == '/'", "the variable req.url.paht"],
    ["req.url == 'x'", "the variable req.url"],
    ["size(req) == 1", "the variable req"],
    ["req.user_agent.name == 'x'", "the variable req.user_agent.name"],
    ["has(req.nope)", "the variable req.nope"],
    ["nope", "the variable nope"],
    ["[1].exists(x, y == x)", "the variable y"],
    ["req.cookies['a'][0].secure", "the field secure"],
    ["true || isJson('x')", "the function isJson with 1 argument"],
    ["base64.decode('x') == b'x'", "the function base64.decode with 1 argument"],
    ["req.method.startsWith('a', 'b')", "the function startsWith with 2 arguments"],
    ["startsWith(req.method)", "the function startsWith with 1 argument"],
    ["[req.host].map(h, h.reverse()) == []", "the function reverse with 0 arguments"],
    ["google.protobuf.Timestamp{} == null", "the type google.protobuf.Timestamp"],
    [
      "hasReqHeader('x-version-id')",
      "in hasReqHeader a header's name that is not written as in X-Version-Id",
    ],
    ["getReqHeader('X-GitHub-Event') == []", "in getReqHeader a header's name that is not written"],
  ])("is refused by the name of what is not there: %s", async (expression, part) => {
    await expect(compile(["true", expression], "rule")).rejects.toThrow(
      new RegExp(
        `^the stand-in does not evaluate ${part.replace(/[.]/g, "\\.")}.*: at rule\\.expressions\\.1$`,
      ),
    );
  });
});

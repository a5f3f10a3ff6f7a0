import { expect, test } from "vitest";
import { changesOf, secret, stackOf } from "./madeStacks";
import { drift } from "./run";

/* What the command makes of states and steps that are made up, and of real accounts. */

test("no secret is shown, however short, wherever it was copied to, in a broken policy, or where only it is known to differ", async () => {
  const policy = (config: object) => ({ on_http_request: [{ actions: [{ type: "oauth", config }] }] });
  const ended = await drift([
    stackOf([
      {
        name: "a",
        inputs: {
          trafficPolicy: policy({ client_secret: "CANARY-1", pin: { password: "ü1" }, api_key: 77 }),
        },
        live: {
          trafficPolicy: policy({
            client_secret: "CANARY-2",
            pin: { password: "ü2" },
            api_key: 88,
            more: "CANARY-2!",
          }),
          description: "it is CANARY-1",
        },
      },
      {
        name: "b",
        inputs: { trafficPolicy: policy({ client_secret: "CANARY-3" }) },
        live: { trafficPolicy: "client_secret: CANARY-4: x" },
      },
      {
        name: "c",
        inputs: {
          trafficPolicy: secret(policy({ some: "CANARY-5" })),
          url: secret("https://CANARY-6.example.com"),
        },
        live: { trafficPolicy: "[secret]", url: "[secret]" },
      },
    ]),
  ]);
  const at = "trafficPolicy.on_http_request[0].actions[0].config";
  expect(changesOf(ended)).toEqual([
    [`${at}.client_secret`, "[secret]", "[secret]"],
    [`${at}.pin.password`, "[secret]", "[secret]"],
    [`${at}.api_key`, "[secret]", "[secret]"],
    [`${at}.more`, undefined, "[secret]!"],
    ["description", undefined, "it is [secret]"],
    ["trafficPolicy", expect.anything(), "[text that is no policy]"],
    ["url", "[secret]", "[secret]"],
    ["trafficPolicy", "[secret]", "[secret]"],
  ]);
  expect(JSON.stringify(ended)).not.toMatch(/CANARY|ü1|ü2|https:..c\./);
});

test("what a state keeps secret, all below a secret's name and the value beside one are in no place of the report", async () => {
  const ended = await drift([
    stackOf([
      {
        name: "a",
        inputs: {
          url: "https://canary-state.example.com",
          trafficPolicy: secret({ some: "canary-state", short: "word" }),
          metadata: {
            credentials: { bob: { pass: "CANARY-DEEP" } },
            headers: [{ name: "Authorization", value: "Bearer CANARY-PAIR" }],
            word: "a word",
          },
        },
        live: {
          trafficPolicy: "[secret]",
          description: "canary-state, CANARY-DEEP, Bearer CANARY-PAIR",
          metadata: {
            credentials: { bob: { pass: "CANARY-DEEP2" }, amy: { pass: 123456 } },
            headers: [
              { name: "Authorization", value: "Bearer CANARY-PAIR2" },
              { key: "token", value: "x-1" },
            ],
            word: "word",
            copy: "canary-state",
          },
        },
      },
    ]),
  ]);
  expect(changesOf(ended)).toEqual(
    expect.arrayContaining([
      ["description", undefined, "[secret], [secret], [secret]"],
      ["metadata.credentials.bob.pass", "[secret]", "[secret]"],
      ["metadata.credentials.amy", undefined, { pass: "[secret]" }],
      ["metadata.headers[0].value", "[secret]", "[secret]"],
      ["metadata.headers[1]", undefined, { key: "token", value: "[secret]" }],
      ["metadata.word", "a word", "word"],
      ["metadata.copy", undefined, "[secret]"],
    ]),
  );
  expect(JSON.stringify(ended)).not.toMatch(/canary|123456|x-1/i);
});

test("a secret that was copied into plain text is in no place of the report, however it is spelled there", async () => {
  const canary = 'CANARY <7> "a"';
  const live = [
    encodeURIComponent(canary),
    encodeURIComponent(canary).replaceAll("%20", "+").replaceAll("%3C", "%3c"),
    JSON.stringify(JSON.stringify(canary)),
    canary.replaceAll("<", "\\u003c"),
    canary.replaceAll('"', "&quot;"),
  ];
  const ended = await drift([
    stackOf(
      live.map((description, index) => ({
        name: `e${index}`,
        inputs: { trafficPolicy: secret({ some: canary }) },
        live: { trafficPolicy: "[secret]", description: `it is ${description}!` },
      })),
    ),
  ]);
  const descriptions = changesOf(ended).filter(([path]) => path === "description");
  expect(descriptions).toHaveLength(live.length);
  for (const [, , text] of descriptions) expect(text).toMatch(/^it is [\\"]*\[secret\][\\"]*!$/);
  expect(JSON.stringify(ended)).not.toMatch(/CANARY/);
});

test("a copy of what the program marked by itself is masked from four characters on, of a whole document from eight", async () => {
  const ended = await drift([
    stackOf([
      {
        name: "a",
        inputs: { trafficPolicy: secret({ pin: "hun2", word: "shop" }), __secrets: ["trafficPolicy.pin"] },
        live: { trafficPolicy: "[secret]", description: "hun2 of the shop" },
      },
    ]),
  ]);
  expect(changesOf(ended)).toEqual([["description", undefined, "[secret] of the shop"]]);
});

import { canonicalJson } from "../../provider/data/index";
import { CANARY_KEY } from "../provider/emulated";
import { secret } from "../provider/plugin/pluginClient";
import { at, edited, error, forbidden, type Props, type Scenario, type Stub, scenario } from "./scenario";

/* Secrets of a program. The runner searches every message, state and refresh for canaries. */

const shop = { url: at("shop") };
const theirs = { theirs: { url: at("canary"), description: "was CANARY-1" } };
const hiddenUrl = { url: at("canary"), options: { secret: ["url"] } };
const policy = {
  on_http_request: [{ actions: [{ type: "custom-response", config: { body: "CANARY-1" } }] }],
};
const withPolicy = { ...shop, trafficPolicy: policy, options: { secret: ["url", "trafficPolicy"] } };
/** A resource with one secret. */
const described = { ...shop, description: "CANARY-1", options: { secret: ["description"] } };

const inexactJson = (name: string) => `{"id":123456789012345678,"${name}":"Bearer CANARY-1"}`;

const refusal = {
  status: 418,
  body: { error_code: "ERR_NGROK_9", msg: "bad: CANARY-1 Q0FOQVJZ 12345678" },
};
const LEFT_OUT = "\\(the service's text is left out, because it may repeat a secret\\)";
const HIDDEN = new RegExp(
  `status 418, ERR_NGROK_9 ${LEFT_OUT}\\. See https://ngrok.com/docs/errors/err_ngrok_9\\.$`,
  "m",
);

/** Inputs of which the program marks all but the URL as secret. */
const marked: [string, Props][] = [
  ["a description", { description: "CANARY-1" }],
  ["a policy", { trafficPolicy: policy }],
  ["a policy as text", { trafficPolicy: '{"a":"CANARY-1"}' }],
  ["metadata", { metadata: { key: "CANARY-1" } }],
  ["a key of metadata", { metadata: { "CANARY-1": 1 } }],
];
const unmarked: [string, Props][] = [
  ["a value under a secret's name in the policy", { trafficPolicy: { secret: "CANARY-1" } }],
  ["a value under a secret's name in metadata", { metadata: '{"password":12345678}' }],
];

export const secrets: Scenario[] = [
  scenario("a refusal that repeats the account's key does not show it", {
    program: { o: shop },
    replies: [["create", { status: 418, body: { error_code: "ERR_NGROK_9", msg: `bad: ${CANARY_KEY}` } }]],
    fails: /status 418, ERR_NGROK_9 bad: \[key\]\./,
  }),
  scenario("an adoption that takes the account's own key out of the keys of metadata does not show it", {
    others: { theirs: { ...shop, metadata: JSON.stringify({ [CANARY_KEY]: 1 }) } },
    program: { o: { ...shop, metadata: { team: "a" }, adopt: "@theirs" } },
    writes: ["PATCH theirs metadata"],
    says: [/adopts ep_\w+ and changes metadata/],
    state: { o: "theirs" },
  }),
  ...marked.map(([what, given]) => {
    const options = { secret: Object.keys(given) };
    const o = { ...shop, ...given, bindings: ["internal"] };
    return scenario(`${what} stays secret through a refresh, an update and a move to the other provider`, {
      from: { o: { ...shop, ...given, options } },
      command: "refresh",
      next: [
        { program: { o: { ...o, options } }, writes: ["PATCH shop bindings"] },
        { program: { o: { ...o, options: { ...options, provider: "other" } } } },
        { command: "refresh" },
      ],
    });
  }),
  ...[...marked, ["a binding", { bindings: ["CANARY-1"] }] as const, ...unmarked].map(([what, given]) =>
    scenario(`the service's text about a refusal is left out for ${what} that may be secret`, {
      program: {
        o: {
          ...shop,
          ...given,
          options: unmarked.some(([each]) => each === what) ? {} : { secret: Object.keys(given) },
        },
      },
      replies: [["create", refusal]],
      fails: /^(?!.*(Q0FO|12345678))/,
      says: [HIDDEN],
    }),
  ),
  scenario("the service's text about a refusal is left out for a URL that is secret", {
    program: { o: hiddenUrl },
    replies: [["create", refusal]],
    fails: HIDDEN,
  }),
  scenario("the service's text about a refusal is shown for a resource without secrets", {
    program: { o: { ...shop, description: "plain", metadata: { kind: "plain" } } },
    replies: [["create", { status: 418, body: { error_code: "ERR_NGROK_9", msg: "plain is no value" } }]],
    fails: /status 418, ERR_NGROK_9 plain is no value\. See https:\S+err_ngrok_9\.$/,
  }),
  ...(["refresh", "up", "destroy"] as const).map((command) =>
    scenario(`the service's text is left out for a ${command}, too`, {
      from: { o: described },
      program: { o: { ...described, metadata: "new" } },
      command,
      replies: [
        ["list", forbidden],
        ["by id", refusal, 99],
      ],
      fails: HIDDEN,
      state: { o: "shop" },
      ...(command === "up" && { stacks: true }),
    }),
  ),
  scenario("the service's text is left out for the request that adopts an endpoint", {
    others: { theirs: shop },
    program: { o: { ...described, adopt: "@theirs" } },
    replies: [["update", refusal]],
    fails: HIDDEN,
  }),
  scenario("the service's text is left out for a look-up with a secret URL", {
    settings: { listFilter: "on" },
    program: { o: hiddenUrl },
    replies: [
      ["create", error(400, 18017)],
      ["list", { status: 401, body: { msg: "for canary.example.com" } }, 9],
    ],
    fails: /^(?!.*canary).*ERR_NGROK_18017/,
  }),
  scenario("the service's text about a list is not quoted, but the status and the code are", {
    from: { o: described },
    command: "destroy",
    replies: [
      ["by id", { status: 404, body: {} }, 9],
      ["list", refusal, 99],
    ],
    writes: [],
    fails: /cannot be read \(GET \/endpoints: status 418 ERR_NGROK_9\)/,
    state: { o: "shop" },
  }),
  ...(
    [
      ["ERR_NGROK_2201", "op_2abc", /status 418, ERR_NGROK_2201 \(operation op_2abc; the service's text/],
      ["ERR_CANARY-1", "op_CANARY-1", new RegExp(`status 418 ${LEFT_OUT}`)],
    ] as const
  ).map(([error_code, operation_id, fails]) =>
    scenario(`a code and an operation id are shown if they have the service's form: ${error_code}`, {
      program: { o: described },
      replies: [
        ["create", { status: 418, body: { error_code, msg: "CANARY-1", details: { operation_id } } }],
      ],
      fails,
    }),
  ),
  scenario("a secret URL is in no message about a taken URL, nor is the holder's description", {
    others: theirs,
    program: { o: hiddenUrl },
    fails: /^cannot create \[secret\]: .*\[secret\] is served by ep_\w+, a cloud endpoint/,
  }),
  ...[{ reset: true } as const, error(400, 18017)].flatMap((reply) => {
    const replies: Stub[] = [["create", reply, 9]];
    const writes = "reset" in reply ? ["POST canary 0"] : [];
    return [
      scenario(
        `a create that fails shows no secret URL if the list cannot be read: ${JSON.stringify(reply)}`,
        {
          program: { o: hiddenUrl },
          replies: [...replies, ["list", forbidden, 99]],
          writes,
          fails: /\[secret\]/,
        },
      ),
      scenario(
        `a create that fails shows no description of the endpoint on its URL: ${JSON.stringify(reply)}`,
        {
          others: { theirs: { ...theirs.theirs, created_at: "2020-01-01T00:00:00Z" } },
          program: { o: hiddenUrl },
          replies,
          writes,
          fails: /\[secret\] is served by/,
        },
      ),
    ];
  }),
  scenario("an adoption shows no secret URL and no secret key", {
    others: theirs,
    program: {
      o: {
        url: at("canary"),
        adopt: "@theirs",
        metadata: { "CANARY-1": 1 },
        options: { secret: ["url", "metadata"] },
      },
    },
    writes: ["PATCH theirs description metadata"],
    says: [/^(warning: )?\[secret\]: adopts ep_\w+ and changes description, metadata/m],
    state: { o: "theirs" },
  }),
  ...[{ traffic_policy: inexactJson("authorization") }, { metadata: inexactJson("api_key") }].map((fields) =>
    scenario(
      `a document with long numbers is secret as a text if it names a secret: ${Object.keys(fields)}`,
      {
        from: { o: "shop" },
        before: edited(fields),
        command: "refresh",
      },
    ),
  ),
  scenario("the refused adoption of an endpoint with another scheme shows no secret URL", {
    others: theirs,
    program: { o: { ...hiddenUrl, url: "tls://canary.example.com", adopt: "@theirs" } },
    fails: /\[secret\].*\[secret\]/,
  }),
  scenario("outputs are secret if their inputs are, also the outputs that derive from a secret URL", {
    from: { o: { ...withPolicy, description: "plain" } },
    command: "refresh",
    next: [
      {
        program: { o: { ...withPolicy, description: "new" } },
        writes: ["PATCH shop description"],
        outputs: {
          o: {
            url: secret(shop.url),
            publicUrl: secret(shop.url),
            hostport: secret("shop.example.com:443"),
            trafficPolicy: secret(canonicalJson(policy)),
            description: "new",
          },
        },
      },
    ],
    stacks: true,
  }),
  scenario("outputs are not secret if the program gave them in plain, even under a secret's name", {
    from: {
      o: {
        ...shop,
        metadata: { password: "plain" },
        bindings: ["internal"],
        options: { secret: ["bindings"] },
      },
    },
    before: edited({ description: "by hand" }),
    command: "refresh",
    outputs: {
      o: {
        ...shop,
        publicUrl: shop.url,
        metadata: '{"password":"plain"}',
        bindings: secret(["internal"]),
        description: "by hand",
      },
    },
  }),
  ...[
    { metadata: '{"a":["CANARY-1"]}' },
    { metadata: '{"CANARY-1":1}' },
    { metadata: "it was CANARY-1" },
    { traffic_policy: '{"a":{"token":"CANARY-1"}}' },
  ].map((edit) =>
    scenario(`a secret that somebody moved by hand stays secret: ${JSON.stringify(edit)}`, {
      from: { o: { ...shop, metadata: { key: "CANARY-1" }, options: { secret: ["metadata"] } } },
      before: edited({ metadata: '{"key":"new"}', ...edit }),
      command: "refresh",
      next: [{ command: "refresh" }, { command: "refresh" }, { writes: ["PATCH shop metadata"] }],
    }),
  ),
  scenario("a value under a secret's name that somebody adds by hand makes the document secret", {
    from: { o: { ...shop, metadata: { key: "x" } } },
    before: edited({ metadata: '{"client_secret":"CANARY-1"}' }),
    command: "refresh",
    outputs: { o: { metadata: secret('{"client_secret":"CANARY-1"}') } },
  }),
  scenario("a value that the program marks later is stored as a secret without a request, and stays secret", {
    from: { o: { ...shop, description: "CANARY-1" } },
    program: { o: described },
    next: [{}, { program: { o: { ...shop, description: "CANARY-1" } } }],
  }),
];

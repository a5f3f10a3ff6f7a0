import {
  type AccountReport,
  type DriftReport,
  type FieldChange,
  reportSchema,
  type StackReport,
} from "../../../sdk/commands/drift/report";

const TYPE = "pulumi-nodejs:dynamic/endpoints:CloudEndpoint";

const ACCOUNT: AccountReport = {
  ...{ service: "https://api.ngrok.com", stacks: ["prod"], endpoints: 48, known: 0 },
  ...{ unmanaged: [], others: [], ignored: [], unchecked: [] },
};

export type Drifted = DriftReport["stacks"][number]["drifted"][number];

export function drifted(name: string, more: Partial<Drifted> = {}): Drifted {
  return {
    name,
    urn: `urn:pulumi:prod::shop::${TYPE}::${name}`,
    type: TYPE,
    id: `ep_${name}`,
    url: `https://${name}.example.com`,
    drift: "changed",
    changes: [
      {
        field: "description",
        path: "description",
        kind: "changed",
        expected: "front door",
        live: "by hand",
        secret: false,
      },
    ],
    ...more,
  };
}

export function report(more: Partial<DriftReport> = {}): DriftReport {
  return reportSchema.parse({
    version: 1,
    startedAt: "2026-01-02T03:04:05.000Z",
    endedAt: "2026-01-02T03:04:17.000Z",
    outcome: "drift",
    exitCode: 7,
    fix: false,
    failOnUnmanaged: false,
    stacks: [
      {
        name: "prod",
        project: "shop",
        endpoints: 48,
        compared: 48,
        drifted: [drifted("shop")],
        unchecked: [],
      },
    ],
    accounts: [ACCOUNT],
    shared: [],
    ...more,
  });
}

const change = (path: string, kind: FieldChange["kind"], expected?: unknown, live?: unknown) => {
  const sides = { ...(expected !== undefined && { expected }), ...(live !== undefined && { live }) };
  return { field: path.split(".")[0], path, kind, ...sides, secret: expected === "[secret]" } as FieldChange;
};

const stack = (name: string, more: Partial<StackReport> = {}): StackReport => ({
  ...{ name, project: "shop", endpoints: 3, compared: 3, drifted: [], unchecked: [] },
  ...more,
});

const unchecked = (what: string, reason: string) => ({ what, reason, authentication: true });

/** A report with one of each kind of finding. */
export function fullReport(): DriftReport {
  const place = "trafficPolicy.on_http_request[0].actions[1].config";
  const long = "a".repeat(1000);
  const status = (id: string) =>
    unchecked(id.slice(3), `cannot read ${id}: GET /endpoints/${id}: status 401`);
  const account = (of: Partial<AccountReport>): AccountReport => ({ ...ACCOUNT, ...of });
  return report({
    ...{ outcome: "unchecked", exitCode: 3, fix: true },
    stacks: [
      stack("dev"),
      stack("prod", {
        ...{ endpoints: 48, compared: 43, undeployed: "its last update failed" },
        drifted: [
          drifted("api", { drift: "deleted", changes: [], repair: { done: true } }),
          drifted("shop", {
            changes: [
              change("description", "changed", "front door", "edited by hand"),
              change("metadata.team", "removed", "shop"),
              change(`${place}.status_code`, "changed", 404, 403),
              change(`${place}.secret`, "changed", "[secret]", "[secret]"),
              change("trafficPolicy.on_tcp_connect", "added", undefined, [{ actions: [{ type: "deny" }] }]),
            ],
            repair: { done: false, reason: "the program differs from the state" },
            ...{ updatedAt: "2026-01-01T02:03:04.000Z", principal: "usr_1" },
          }),
          drifted("long", { changes: [change("description", "changed", `${long}one`, `${long}two`)] }),
        ],
        unchecked: ["ep_a", "ep_b", "ep_c", "ep_d", "ep_e"].map(status),
      }),
    ],
    accounts: [
      account({
        ...{ stacks: ["prod", "dev"], endpoints: 53, known: 2 },
        unmanaged: [
          {
            id: "ep_2abcdefghijklmnopqrstuvwxyz",
            url: "https://old.example.com",
            description: "made by hand",
            createdAt: "2025-11-12T13:14:15.000Z",
            createdFor: "front of the stack shop/prod (platform)",
            deleteCommand: "curl -X DELETE https://api.ngrok.com/endpoints/ep_2abcdefghijklmnopqrstuvwxyz",
          },
          { id: "ep_hour", url: "tcp://1.tcp.example.com:12345", createdAt: "2026-01-02T02:03:00.000Z" },
          { id: "ep_later", createdAt: "2026-01-03T00:00:00.000Z" },
        ],
        others: [{ id: "ep_blog", url: "https://blog.example.com", createdFor: "blog" }],
        ignored: [{ id: "ep_status", url: "https://status.example.com", reason: "the vendor runs it" }],
      }),
      account({ endpoints: 0, unchecked: [unchecked("the account", "the key is missing")] }),
    ],
    shared: [
      { id: "ep_1", resources: ["dev", "prod"].map((of) => ({ stack: of, name: "a", urn: `urn:${of}` })) },
    ],
  });
}

export const cleanReport = (): DriftReport =>
  report({ outcome: "none", exitCode: 0, stacks: [stack("prod", { endpoints: 48, compared: 48 })] });

/** 200 stacks: of each ten, one has drifted, and one could not be read. */
export const manyStacks = (total = 200): DriftReport => {
  const stacks = Array.from({ length: total }, (_, index) =>
    stack(
      `project-${index % 10}/stack-${index}`,
      index % 10 === 1
        ? {
            endpoints: 0,
            compared: 0,
            unchecked: [unchecked("the stack's state", "the passphrase must be set")],
          }
        : { drifted: index % 10 === 0 ? [drifted(`shop-${index}`)] : [] },
    ),
  );
  const unmanaged = Array.from({ length: 23 }, (_, index) => ({
    id: `ep_${index}`,
    url: `tcp://${index}.com`,
  }));
  const account = { ...ACCOUNT, stacks: stacks.map(({ name }) => name), unmanaged };
  return report({ ...{ outcome: "unchecked", exitCode: 1 }, stacks, accounts: [account] });
};

/** Values that try to inject code, break the layout or hide text. */
export const HOSTILE = [
  "<script>window.hacked = 1</script>",
  '"><img src=https://evil.example.com/x onerror="window.hacked = 1">',
  "</style><style>*{display:none}</style><!--",
  "abc\u202etxt.exe\u2066\u200b\u0000\u001b[31mred",
  "x".repeat(5000),
  "\ud800 half, שלום עולם, 😀",
  "##vso[task.setvariable variable=PATH]/tmp ##[add-mask]a ##teamcity[buildStop]",
];

export function hostileReport(): DriftReport {
  const about = (text: string, index: number) =>
    drifted(text, {
      url: text,
      id: text,
      changes: [change(text, "changed", text, { [text]: [text, index] })],
      repair: { done: false, reason: text },
    });
  return report({
    stacks: HOSTILE.map((name) => ({
      ...stack(name, { drifted: HOSTILE.map(about), undeployed: name }),
      unchecked: [unchecked(name, name)],
    })),
    accounts: HOSTILE.map((text) => ({
      ...ACCOUNT,
      ...{ service: text, stacks: [text], unchecked: [unchecked(text, text)] },
      unmanaged: [{ id: text, url: text, description: text, createdFor: text, deleteCommand: text }],
      ignored: [{ id: text, url: text, reason: text }],
    })),
    shared: HOSTILE.map((text) => ({ id: text, resources: [{ stack: text, name: text, urn: text }] })),
  });
}

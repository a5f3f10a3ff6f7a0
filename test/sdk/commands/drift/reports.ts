import { type DriftReport, reportSchema } from "../../../../sdk/commands/drift/report";

const TYPE = "pulumi-nodejs:dynamic/endpoints:CloudEndpoint";

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
    accounts: [
      {
        service: "https://api.ngrok.com",
        stacks: ["prod"],
        endpoints: 48,
        others: [],
        ignored: [],
        known: 0,
        unmanaged: [],
        unchecked: [],
      },
    ],
    shared: [],
    unusedIgnores: [],
    ...more,
  });
}

/** A report with one of each kind of finding. */
export function fullReport(): DriftReport {
  const place = "trafficPolicy.on_http_request[0].actions[1].config";
  return report({
    outcome: "unchecked",
    exitCode: 3,
    fix: true,
    stacks: [
      {
        name: "prod",
        project: "shop",
        endpoints: 48,
        compared: 48,
        drifted: [
          drifted("api", { drift: "deleted", changes: [], repair: { done: true } }),
          drifted("shop", {
            changes: [
              {
                field: "description",
                path: "description",
                kind: "changed",
                expected: "front door",
                live: "edited by hand",
                secret: false,
              },
              { field: "metadata", path: "metadata.team", kind: "removed", expected: "shop", secret: false },
              {
                field: "trafficPolicy",
                path: `${place}.status_code`,
                kind: "changed",
                expected: 404,
                live: 403,
                secret: false,
              },
              {
                field: "trafficPolicy",
                path: `${place}.secret`,
                kind: "changed",
                expected: "[secret]",
                live: "[secret]",
                secret: true,
              },
              {
                field: "trafficPolicy",
                path: "trafficPolicy.on_tcp_connect",
                kind: "added",
                live: [{ actions: [{ type: "deny" }] }],
                secret: false,
              },
            ],
            repair: {
              done: false,
              reason: "the program differs from the state, and --fix deploys nothing new",
            },
          }),
        ],
        unchecked: [
          {
            what: "status (ep_status)",
            reason: "cannot read ep_status: GET /endpoints/ep_status: status 401",
            authentication: true,
          },
        ],
      },
      { name: "dev", project: "shop", endpoints: 3, compared: 3, drifted: [], unchecked: [] },
    ],
    accounts: [
      {
        service: "https://api.ngrok.com",
        stacks: ["prod", "dev"],
        endpoints: 53,
        others: [],
        ignored: [],
        known: 0,
        unmanaged: [
          {
            id: "ep_2abcdefghijklmnopqrstuvwxyz",
            url: "https://old.example.com",
            description: "made by hand",
            createdAt: "2025-11-12T13:14:15.000Z",
            createdFor: "front of the stack shop/prod (platform)",
            deleteCommand: "curl -X DELETE https://api.ngrok.com/endpoints/ep_2abcdefghijklmnopqrstuvwxyz",
          },
          { id: "ep_3abcdefghijklmnopqrstuvwxyz", url: "tcp://1.tcp.example.com:12345" },
        ],
        unchecked: [],
      },
    ],
  });
}

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
      changes: [
        {
          field: text,
          path: text,
          kind: "changed",
          expected: text,
          live: { [text]: [text, index] },
          secret: false,
        },
      ],
      repair: { done: false, reason: text },
    });
  return report({
    stacks: HOSTILE.map((name) => ({
      name,
      project: "shop",
      endpoints: HOSTILE.length,
      compared: HOSTILE.length,
      drifted: HOSTILE.map(about),
      unchecked: [{ what: name, reason: name, authentication: false }],
    })),
    accounts: HOSTILE.map((text) => ({
      service: text,
      stacks: [text],
      endpoints: 1,
      others: [],
      ignored: [],
      known: 0,
      unmanaged: [{ id: text, url: text, description: text, createdFor: text, deleteCommand: text }],
      unchecked: [{ what: text, reason: text, authentication: false }],
    })),
  });
}

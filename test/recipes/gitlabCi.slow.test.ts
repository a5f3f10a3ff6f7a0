import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { BOT, type GitLab, standInForGitLab } from "./gitlab";
import { cli, type Machine, QUIET, recipes, twoProjects, withService } from "./machine";

const folder = join(recipes, "gitlab-ci");
const [text = "", childText = ""] = [".gitlab-ci.yml", "ci/stack.yml"].map((file) =>
  readFileSync(join(folder, file), "utf8"),
);
const common = z.object({
  rules: z.array(z.object({ if: z.string().optional() })),
  environment: z.object({ name: z.string(), action: z.string().optional() }).optional(),
  resource_group: z.string().optional(),
  interruptible: z.boolean().optional(),
  allow_failure: z.object({ exit_codes: z.number() }).optional(),
});
const job = common.extend({
  script: z.array(z.string()),
  variables: z.record(z.string(), z.string()).optional(),
});
const trigger = common.extend({ trigger: z.looseObject({ strategy: z.string() }) });
const settings = z.object({ interruptible: z.boolean(), before_script: z.array(z.string()) });
const variables = z.record(z.string(), z.string());
const pipeline = z
  .object({
    variables,
    default: settings,
    check: job,
    stacks: job,
    preview: trigger,
    up: trigger,
    drift: job,
  })
  .parse(parse(text));
const child = z
  .object({ default: settings, ".preview": job, ".up": job, ".comment": job })
  .parse(parse(childText));
const { check, stacks, preview, up, drift } = pipeline;

test("the pipeline for GitLab holds no key, runs no fork's program with one, and never cancels an up", () => {
  expect(text + childText).not.toMatch(/API_KEY|ACCESS_TOKEN|PASSPHRASE/);
  const all = { check, stacks, preview, up, drift, ...child };
  const summary = Object.entries(all).map(([name, one]) => {
    const { environment, resource_group, interruptible, allow_failure }: Partial<z.output<typeof common>> =
      one;
    return [name, environment?.name, resource_group, interruptible, allow_failure?.exit_codes];
  });
  const none = undefined;
  expect(summary).toEqual([
    ["check", none, none, true, none],
    ["stacks", none, none, true, none],
    ["preview", none, none, true, none],
    // The trigger waits for the end of the child pipeline, and holds the resource as long.
    ["up", none, "endpoints", none, none],
    ["drift", "endpoints-drift", "endpoints", none, 7],
    ["default", none, none, false, none],
    [".preview", "endpoints-preview", none, true, none],
    [".up", "endpoints/$PROJECT/$STACK", none, none, none],
    [".comment", "endpoints-preview", none, true, none],
  ]);
  expect(pipeline.default).toEqual(child.default);
  expect(up.trigger.strategy).toBe("depend");
  expect(preview.rules).toEqual([
    {
      if: '$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID',
    },
  ]);
  expect(up.rules.map((rule) => rule.if)).toEqual([
    expect.stringMatching(/^\$CI_COMMIT_BRANCH == \$CI_DEFAULT_BRANCH && /),
  ]);
});

/** A machine with the repository of two projects and the recipe. */
function runner(): Machine {
  const machine = twoProjects();
  cpSync(folder, machine.folder, { recursive: true });
  return machine;
}

/** Runs the lines of a job as GitLab does. */
const play = (machine: Machine, { script, variables }: z.output<typeof job>, env: Record<string, string>) =>
  machine.run(["bash", "-c", ["set -eo pipefail", ...pipeline.default.before_script, ...script].join("\n")], {
    ...pipeline.variables,
    ...variables,
    ...env,
  });

const generated = z.record(
  z.string(),
  z.object({ extends: z.enum([".preview", ".up", ".comment"]), variables: variables.default({}) }).loose(),
);

/** The jobs of the child pipeline. */
async function childJobs(machine: Machine, env: Record<string, string> = {}) {
  expect(await play(machine, stacks, env)).toEqual({ code: 0, output: "" });
  return generated.parse(parse(readFileSync(join(machine.folder, "stacks.yml"), "utf8")));
}

describe("the child pipeline for GitLab", () => {
  const jobOf = (project: string, NUMBER: string, share: string) => ({
    extends: ".up",
    variables: {
      FOLDER: project,
      PROJECT: project,
      STACK: "prod",
      NUMBER,
      ENDPOINTS_REQUESTS_PER_WINDOW: share,
    },
    needs: [],
    resource_group: `endpoints-${project}-prod`,
  });
  const previewOf = (project: string, NUMBER: string, needs: object[]) => {
    const { resource_group: _, ...job } = jobOf(project, NUMBER, "120");
    return { ...job, extends: ".preview", needs };
  };
  const first = [{ job: "api: prod", artifacts: false }];
  test.each([
    ["of two projects", {}, { "api: prod": jobOf("api", "0", "60"), "shop: prod": jobOf("shop", "1", "60") }],
    [
      "of one stack by its full name",
      { STACKS: "organization/shop/prod" },
      { "shop: prod": jobOf("shop", "0", "120") },
    ],
    [
      "of previews, one at a time",
      { JOBS: "1", CI_MERGE_REQUEST_IID: "7" },
      {
        "api: prod": previewOf("api", "0", []),
        "shop: prod": previewOf("shop", "1", first),
        comment: { extends: ".comment", variables: {} },
      },
    ],
  ])("%s has a job for each stack, with its queue and its share of the requests", async (_, env, jobs) => {
    expect(await childJobs(runner(), env)).toEqual(jobs);
  });
});

const ISSUE = "<!-- endpoints drift of stacks.yaml -->";
const ours = { iid: 5, author: BOT, description: `${ISSUE}\n` };
const foreign = [
  { iid: 1, author: { id: 5 }, description: `${ISSUE}\nas the bot says` },
  { iid: 2, author: BOT, description: "of another pipeline" },
  { iid: 3, author: { id: 5 }, description: null },
];
const key = { ENDPOINTS_API_KEY: "key" };
const shop = { ...key, FOLDER: "shop", PROJECT: "shop", STACK: "prod", NUMBER: "1" };
const INSTALL = "> pulumi install --cwd shop (key)";
const upWith = (repair: boolean) =>
  `> pulumi up --cwd shop --stack prod --yes --refresh=${repair} ${QUIET} (key)`;
const AFTER_KILL = [
  "> pulumi cancel --cwd shop --stack prod --yes --non-interactive (key)",
  "> pulumi refresh --cwd shop --stack prod --yes --skip-preview --clear-pending-creates --non-interactive --color never (key)",
];

describe("on GitLab", () => {
  const repairing = { RECOVER: "true", REPAIR: "true" };
  const noLock = '[ "$1" != cancel ]';
  test.each([
    ["a first deploy", {}, "", 0, [INSTALL, upWith(false)]],
    ["a deploy after a kill, with a repair", repairing, noLock, 0, [INSTALL, ...AFTER_KILL, upWith(true)]],
    ["a failed deploy", {}, '[ "$1" = install ] || exit 9', 9, [INSTALL, upWith(false)]],
  ])("%s runs these commands", async (_, env, pulumi, code, calls) => {
    const machine = runner();
    machine.standIn("pulumi", pulumi);
    expect(await play(machine, child[".up"], { ...shop, ...env })).toMatchObject({ code });
    expect(machine.transcript()).toEqual(["> npm ci (key)", ...calls]);
  });

  const CHECK = "> npx --no-install pulumi-endpoints drift --projects stacks.yaml --html drift.html (key)";
  const STACKS = "> npx --no-install pulumi-endpoints stacks --projects stacks.yaml --json - (key)";
  const COMPARED = ["api", "shop"].flatMap((name) => [
    `> pulumi install --cwd ${name} (key)`,
    `> pulumi preview --cwd ${name} --stack prod --expect-no-changes ${QUIET} (key)`,
  ]);
  const CREATE = "POST /issues";
  const EDIT = "PUT /issues/5";
  const about = (text: string) => ({
    description: expect.stringMatching(new RegExp(`^${ISSUE}\n[^\n]*${text}[^\n]*\n\n<pre>\n`)),
  });
  const opened = { title: "Endpoints of stacks.yaml drifted", labels: "endpoints-drift" };
  const drifted = about("\\*\\*1 of 4 cloud endpoints drifted\\.\\*\\* The whole report");
  const undeployed = about("but these programs do not");
  const CLOSED = [EDIT, { state_event: "close" }];
  test.each<[string, number, object[], programs: "same" | "different" | undefined, unknown[]]>([
    ["no drift", 0, [], undefined, []],
    ["a failed last deploy", 8, [], undefined, []],
    ["a wrong key", 1, [ours], undefined, []],
    ["drift, with a foreign issue", 7, foreign, undefined, [[CREATE, { ...opened, ...drifted }]]],
    ["drift as before", 7, [...foreign, ours], undefined, [[EDIT, drifted]]],
    ["drift that is gone", 0, [ours], "same", [CLOSED]],
    ["a failed repair", 0, [ours], "different", [[EDIT, undeployed]]],
    ["a failed repair and deploy", 8, [ours], "different", [[EDIT, undeployed]]],
  ])("%s leads to these commands and requests", async (_, code, issues, programs, writes) => {
    const machine = runner();
    const gitlab = await standInForGitLab(issues);
    machine.standIn("pulumi", programs === "different" ? '[ "$1 $3" != "preview shop" ]' : "");
    const REPORT = "Stack prod: drifted\\n/close @all\\n\\n1 of 4 cloud endpoints drifted.\\n";
    Object.assign(machine.env, { DRIFT: `${code}`, REPORT });
    // Drift is a warning of the job, and a failed last deploy alone is no failure.
    const expected = { code: code === 8 ? 0 : code };
    expect(await play(machine, drift, { ...gitlab.env, ...key })).toMatchObject(expected);
    expect(machine.transcript()).toEqual([
      "> npm ci (key)",
      CHECK,
      ...(programs ? [STACKS, ...COMPARED] : []),
    ]);
    expect(gitlab.writes).toEqual(writes);
    expect(JSON.stringify(gitlab.writes)).not.toMatch(/<pre>.*(\/close|@all)/);
  });

  test("a refused token fails the report without printing it", async () => {
    const { env } = await standInForGitLab();
    const machine = runner();
    const ran = await machine.run(["node", "ci/report.mjs", "issue"], {
      ...env,
      GITLAB_TOKEN: "glpat-other",
    });
    expect(ran.code).not.toBe(0);
    expect(ran.output).toContain("was answered with 401");
    expect(ran.output).not.toContain("glpat");
  });

  const COMMENT = "<!-- endpoints preview of stacks.yaml -->";
  const notes = [
    { id: 1, author: BOT, body: "coverage" },
    { id: 2, author: BOT, body: "<!-- endpoints preview of other.yaml -->" },
    { id: 3, author: { id: 5 }, body: `${COMMENT} as the bot says` },
  ];
  test.each([
    ["is written once", notes, "POST /merge_requests/7/notes"],
    [
      "replaces the earlier one",
      [...notes, { id: 5, author: BOT, body: COMMENT }],
      "PUT /merge_requests/7/notes/5",
    ],
  ])("a comment has the preview of each stack, and %s", async (_, listed, request) => {
    const machine = runner();
    const gitlab = await standInForGitLab(listed);
    for (const [NUMBER, PROJECT, body, code] of [
      ["0", "a", "echo '~ shop </pre>\n/close\n@all\nResources:\n    ~ 1 to update\n    2 unchanged'", 0],
      ["1", "b", "echo 'Resources:\n    3 unchanged'", 0],
      ["2", "c", "echo 'it failed'; exit 255", 255],
    ] as const) {
      machine.standIn("pulumi", `[ "$1" = install ] && exit\n${body}`);
      const ran = await play(machine, child[".preview"], { ...shop, NUMBER, PROJECT });
      expect(ran).toMatchObject({ code });
    }
    expect(machine.transcript().at(-1)).toBe(
      `> pulumi preview --cwd shop --stack prod --diff ${QUIET} (key)`,
    );
    expect(await play(machine, child[".comment"], gitlab.env)).toMatchObject({ code: 0 });
    const [[written, body] = ["", {}]] = gitlab.writes;
    expect([gitlab.writes.length, written]).toEqual([1, request]);
    expect(body["body"]).toMatchInlineSnapshot(`
      "<!-- endpoints preview of stacks.yaml -->
      **Preview for abc: 1 with changes, 1 without, 1 failed** ([the last job](https://gitlab.example.com/acme/shop/-/jobs/42))

      <details><summary><code>a prod</code>: ~ 1 to update</summary>

      <pre>
      ~ shop &lt;&#47;pre&gt;
      &#47;close
      &#64;all
      Resources:
          ~ 1 to update
          2 unchanged

      </pre>
      </details>
      <details><summary><code>c prod</code>: failed (255)</summary>

      <pre>
      it failed

      </pre>
      </details>

      Without changes: <code>b prod</code>"
    `);
  });

  test.skipIf(!cli)(
    "two projects are deployed with the Pulumi CLI, and drift becomes an issue until it is repaired",
    async () => {
      const machine = runner();
      const emulator = await withService(machine, "api", "shop");
      const env = { ENDPOINTS_API_KEY: emulator.apiKey };
      const runChild = async (more: Record<string, string> = {}) => {
        const codes: number[] = [];
        for (const { extends: name, variables } of Object.values(await childJobs(machine, more)))
          codes.push((await play(machine, child[name], { ...env, ...more, ...variables })).code);
        return codes;
      };
      const checked = async (issues: object[] = []): Promise<[number, GitLab["writes"]]> => {
        const gitlab = await standInForGitLab(issues);
        return [(await play(machine, drift, { ...gitlab.env, ...env })).code, gitlab.writes];
      };
      expect(await runChild()).toEqual([0, 0]);
      emulator.remove(emulator.endpoints[0]?.id ?? "");
      const outcome = "\\*\\*1 of 4 cloud endpoints drifted \\(1 deleted\\)";
      expect(await checked()).toEqual([7, [[CREATE, { ...opened, ...about(outcome) }]]]);
      // A repair that fails after its refresh has copied the live values into the state.
      emulator.intercept(({ method }) => method === "POST", { status: 400, body: { msg: "not today" } });
      expect(await runChild({ REPAIR: "true" })).toEqual([0, 1]);
      expect(await checked([ours])).toEqual([0, [[EDIT, undeployed]]]);
      expect(await runChild({ RECOVER: "true", REPAIR: "true" })).toEqual([0, 0]);
      expect(emulator.endpoints).toHaveLength(4);
      expect(await checked([ours])).toEqual([0, [CLOSED]]);
    },
  );
});

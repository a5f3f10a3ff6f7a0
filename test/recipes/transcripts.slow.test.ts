import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../package/pack";
import * as github from "./github";
import * as gitlab from "./gitlab";
import { type Listed, standInForHost } from "./host";
import { Machine, QUIET } from "./machine";

/* The commands that recipes call in each situation. All commands are stand-ins, except this package's `stacks`. */

const readKey = { ENDPOINTS_API_KEY: "read-key" };
/** The variables of a stack's job on GitLab. */
const shop = { FOLDER: "shop", PROJECT: "shop", STACK: "prod", PROJECTS: "stacks.yaml" };

/** The existing comments or issues: those of others, and perhaps ours. */
const listed = (marker: string, isOursThere: boolean): Listed[] => [
  { id: 1, isBot: false, body: `${marker}\nas the bot says` },
  { id: 2, isBot: true, body: "of another pipeline" },
  { id: 3, isBot: false, body: null },
  ...(isOursThere ? [{ id: 5, isBot: true, body: `${marker}\n` }] : []),
];

describe("a pipeline", () => {
  const up = (repair: boolean) => `up --stack prod --yes --refresh=${repair} ${QUIET}`;
  const CANCEL = "cancel --stack prod --yes --non-interactive --color never";
  const LOOK =
    "> npx --no-install pulumi-endpoints drift --projects stacks.yaml --stack shop/prod --json recovery.json";
  const AFTER_KILL = [
    LOOK,
    CANCEL,
    "refresh --stack prod --yes --skip-preview --clear-pending-creates --non-interactive --color never",
  ];
  test.each([
    ["a first deploy", "false", "", 0, ["install", up(false)]],
    [
      "a deploy after a kill, with a repair",
      "true",
      '[ "$1" != cancel ]',
      0,
      ["install", ...AFTER_KILL, up(true)],
    ],
    ["a failed installation", "false", "exit 3", 3, ["install"]],
    ["a failed deploy", "false", '[ "$1" = install ] || exit 9', 9, ["install", up(false)]],
  ])("in %s runs these commands of Pulumi", async (_, repairs, pulumi, code, calls) => {
    const onGitHub = new Machine(pulumi);
    const given = { "inputs.recover": repairs, "inputs.repair": repairs };
    expect(await github.runJob(onGitHub, "up", given)).toMatchObject({ code });
    const all = ["> npm ci", ...calls.map((call) => (call === LOOK ? LOOK : `/shop> pulumi ${call}`))];
    const withKey = all.map((call) => (/npm|install$/.test(call) ? call : `${call} (write-key)`));
    expect(onGitHub.transcript()).toEqual(withKey);

    const onGitLab = new Machine(pulumi);
    const env = {
      ENDPOINTS_API_KEY: "key",
      ...shop,
      RECOVER: repairs,
      REPAIR: repairs,
    };
    expect(await gitlab.runJob(onGitLab, ".up", env)).toMatchObject({ code });
    expect(onGitLab.transcript()).toEqual(all.map((call) => `${call} (key)`));
  });

  /** What `drift` reports of the stack shop/prod. */
  const lookOf = (recovery?: object) => {
    const json = { stacks: [{ name: "shop/prod", ...(recovery && { recovery }) }] };
    return { code: recovery ? 8 : 0, report: "a report with pulumi up in it\n    pulumi up", json };
  };
  const LEFT = lookOf({ text: "", command: "pulumi up", adopt: ["ep_1", "ep_2"] });
  const OTHER_STEP = "The report names another step, which comes first.";
  test.each<[string, drift: ReturnType<typeof lookOf>, ids: string, stopsWith: string | undefined]>([
    [
      "left endpoints, without their ids",
      LEFT,
      "",
      "Check that nothing outside of this backend has ep_1,ep_2. Then",
    ],
    [
      "left endpoints, with one of their ids",
      LEFT,
      "ep_1,ep_3",
      "Check that nothing outside of this backend has ep_2. Then",
    ],
    ["left endpoints, with their ids", LEFT, "ep_2,ep_1", undefined],
    ["left nothing", lookOf({ text: "", command: "pulumi up", adopt: [] }), "", undefined],
    ["is over, since nothing is pending", lookOf(), "", undefined],
    ["left members of a pool, or is partly unchecked", lookOf({ text: "", adopt: [] }), "", OTHER_STEP],
    ["cannot be looked for", { ...LEFT, code: 1 }, "ep_1,ep_2", ""],
  ])(
    "after a kill that %s clears the pending creates only if nothing gets lost",
    async (_, drift, ids, stopsWith) => {
      const note = 'echo "$*" >>"$HOME/ran"';
      const onGitHub = new Machine(note, drift);
      const inputs = { "inputs.recover": "true", "inputs.adopt": ids };
      const onGitLab = new Machine(note, drift);
      const env = { ...shop, RECOVER: "true", ...(ids !== "" && { ADOPT: ids }) };
      for (const [machine, ran] of [
        [onGitHub, await github.runJob(onGitHub, "up", inputs)],
        [onGitLab, await gitlab.runJob(onGitLab, ".up", env)],
      ] as const) {
        const isCleared = stopsWith === undefined;
        expect(ran.code).toBe(isCleared ? 0 : 1);
        expect(ran.output).toContain(drift.report);
        const calls = ["install", ...(isCleared ? ["cancel", "refresh", "up"] : [])];
        const noted = machine.read("ran").trimEnd().split("\n");
        expect(noted.map((line) => line.split(" ")[0])).toEqual(calls);
        const config = ids === "" ? "" : `--config endpoints:adopt=${ids} `;
        if (isCleared) expect(noted.at(-1)).toContain(`--refresh=false ${config}--suppress-progress`);
        else expect(ran.output).toContain(stopsWith);
      }
      expect(github.workflows.endpoints.jobs["up"]?.with["adopt"]).toBe(`\${{ inputs.adopt }}`);
    },
  );

  test("leaves the issue as it is after a check that failed", () => {
    const script = join(root, "examples/gitops/endpoints.mjs");
    const ended = spawnSync(process.execPath, [script, "issue", "2"], { encoding: "utf8", env: {} });
    expect([ended.status, ended.stdout]).toEqual([
      1,
      "The check failed with the exit code 2, so it neither opens nor closes an issue.\n",
    ]);
  });

  test.each([
    ["two projects", "", ["api", "shop"]],
    ["one stack by its full name", "organization/shop/prod", ["shop"]],
  ])("makes jobs of %s, each with its queue and its share of the requests", async (_, stacks, projects) => {
    const share = 120 / projects.length;
    const onGitHub = new Machine();
    const { outputs } = await github.runJob(onGitHub, "stacks", { "inputs.stacks": stacks });
    const include = projects.map((name) => ({ folder: name, project: name, stack: "prod" }));
    expect(outputs["jobs"]).toBe("4");
    expect(JSON.parse(outputs["matrix"] ?? "")).toEqual({
      include: include.map((one) => ({ ...one, requestsPerWindow: share })),
    });
    expect(onGitHub.transcript().slice(0, 2)).toEqual(["> npm ci", "> npm test --if-present"]);

    const onGitLab = new Machine();
    expect(await gitlab.runJob(onGitLab, "stacks", { STACKS: stacks })).toEqual({ code: 0, output: "" });
    const variables = { STACK: "prod", ENDPOINTS_REQUESTS_PER_WINDOW: `${share}` };
    expect(onGitLab.yaml("stacks.yml")).toEqual(
      Object.fromEntries(
        projects.map((name, at) => [
          `${name}: prod`,
          {
            ...{ extends: ".up", needs: [], resource_group: `endpoints-${name}-prod` },
            variables: { ...variables, FOLDER: name, PROJECT: name, NUMBER: `${at}` },
          },
        ]),
      ),
    );
  });

  test("on GitLab previews one stack at a time with one job, and then comments", async () => {
    const machine = new Machine();
    await gitlab.runJob(machine, "stacks", { JOBS: "1", CI_MERGE_REQUEST_IID: "7" });
    expect(machine.yaml("stacks.yml")).toMatchObject({
      "api: prod": { extends: ".preview", needs: [] },
      "shop: prod": { extends: ".preview", needs: [{ job: "api: prod", artifacts: false }] },
      comment: { extends: ".comment", variables: { MATRIX: matrixOf(["api", "shop"]) } },
    });
  });

  const ISSUE = "<!-- endpoints drift of stacks.yaml -->";
  const REPORT = "1 of 4 cloud endpoints drifted.\n\nStack prod: drifted <b>\n::error::evil\n/close @all\n";
  const DRIFTED = [
    "\n**1 of 4 cloud endpoints drifted.** The whole report",
    "\n<pre>\n1 of 4 cloud endpoints drifted.\n\nStack prod: drifted &lt;b&gt;\n",
  ];
  const UNDEPLOYED = [DRIFTED[0] ?? "", "The last run of a stack failed or was killed", DRIFTED[1] ?? ""];
  /** The requests for each change of the issue. */
  const REQUESTS = {
    none: [],
    opened: ["POST /issues Endpoints of stacks.yaml are not as deployed"],
    edited: ["EDIT /issues/5"],
    closed: ["EDIT /issues/5 close"],
  };
  test.each<[string, code: number, isOpen: boolean, issue: keyof typeof REQUESTS, text?: string[]]>([
    ["no drift", 0, false, "none"],
    ["a failed or killed last deploy", 8, false, "opened", UNDEPLOYED],
    ["one as before", 8, true, "edited", UNDEPLOYED],
    ["a wrong key", 1, true, "none"],
    ["drift, and an issue of others", 7, false, "opened", DRIFTED],
    ["drift as before", 7, true, "edited", DRIFTED],
    ["drift that is gone", 0, true, "closed"],
  ])("that finds %s makes these requests", async (_, code, isOpen, issue, text = []) => {
    const check =
      "> npx --no-install pulumi-endpoints drift --projects stacks.yaml --html drift.html (read-key)";
    const onGitHub = new Machine("", { code, report: REPORT });
    const api = await standInForHost(onGitHub, listed(ISSUE, isOpen));
    const ended = await github.runJob(onGitHub, "drift", { api });
    expect(ended.code).toBe(code === 1 ? 1 : 0);
    // Between these lines, the runner executes no command.
    expect(ended.output).toMatch(/::stop-commands::(\S{30,})\n[\s\S]*::error::evil\n[\s\S]*\n::\1::\n/);
    const onGitLab = new Machine("", { code, report: REPORT });
    const env = gitlab.variablesOf(await standInForHost(onGitLab, listed(ISSUE, isOpen)));
    // Drift is a warning of the job, and so is a failed or killed deploy.
    const ran = await gitlab.runJob(onGitLab, "drift", { ...env, ...readKey });
    expect(ran).toMatchObject({ code });

    for (const [machine, npm, edit, close] of [
      [onGitHub, "> npm ci", "PATCH", "closed"],
      [onGitLab, "> npm ci (read-key)", "PUT", "close"],
    ] as const) {
      const requests = REQUESTS[issue].map((call) => call.replace("EDIT", edit).replace(/close$/, close));
      expect(machine.transcript()).toEqual([npm, check, ...requests]);
      if (text.length === 0) continue;
      const written = machine.read("written");
      expect(written.startsWith(`${ISSUE}\n`)).toBe(true);
      for (const part of text) expect(written).toContain(part);
      expect(written).toContain("\n::error::evil\n&#47;close &#64;all\n");
    }
  });

  test("counts unmanaged endpoints as drift if a variable says so", async () => {
    const FAIL_ON_UNMANAGED = "true";
    const onGitHub = new Machine();
    const api = await standInForHost(onGitHub);
    await github.runJob(onGitHub, "drift", { api, "vars.FAIL_ON_UNMANAGED": FAIL_ON_UNMANAGED });
    const onGitLab = new Machine();
    const env = gitlab.variablesOf(await standInForHost(onGitLab));
    await gitlab.runJob(onGitLab, "drift", { ...env, FAIL_ON_UNMANAGED });
    for (const machine of [onGitHub, onGitLab])
      expect(machine.transcript().join("\n")).toMatch(/ drift --projects \S+ --html \S+ --fail-on-unmanaged/);
  });

  test("keeps a preview as it is printed, and runs no command in it", async () => {
    const evil = "::error::evil\n ##[add-mask]evil\nno line break at the end";
    for (const code of [0, 9]) {
      const machine = new Machine(`[ "$1" = install ] && exit\nprintf '%s' '${evil}'\nexit ${code}`);
      const { output, ...ran } = await github.runJob(machine, "preview");
      expect(ran.code).toBe(code);
      const [, , within] = /^::stop-commands::(\S{30,})\n([\s\S]*)\n::\1::\n$/.exec(output) ?? [];
      expect(within).toBe(evil);
      const read = (file: string) => readFileSync(join(machine.folder, "previews/0", file), "utf8");
      expect([read("preview.txt"), read("outcome.txt")]).toEqual([evil, `${code}`]);
      expect(machine.transcript()).toEqual([
        "> npm ci",
        "/shop> pulumi install",
        `/shop> pulumi preview --stack prod --diff ${QUIET} (preview-key)`,
      ]);
    }
  });

  /** The previews of three stacks: their exit codes and texts. */
  const previews: [code: number, text: string][] = [
    [0, "~ shop: </pre><b>\n/close\n@all\nResources:\n    ~ 1 to update\n    2 unchanged\n"],
    [0, "Resources:\n    3 unchanged\n"],
    [255, "it failed"],
  ];
  const matrixOf = (projects: string[]) =>
    JSON.stringify({ include: projects.map((project) => ({ project, stack: "prod" })) });
  const matrix = matrixOf(previews.map((_, at) => `p${at}`));

  const MARKER = "<!-- endpoints preview of stacks.yaml -->";

  /** Writes GitHub's comment about previews, and returns it. A preview without an exit code was killed. */
  async function commentOnGitHub(
    machine: Machine,
    all: [code: number | undefined, text: string][],
    named = matrix,
    earlier: Listed[] = [],
  ): Promise<string> {
    for (const [at, [code, text]] of all.entries()) {
      if (text === "") continue;
      const folder = join(machine.folder, `previews/${at}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "preview.txt"), text);
      if (code !== undefined) writeFileSync(join(folder, "outcome.txt"), `${code}`);
    }
    const given = { api: await standInForHost(machine, earlier), "inputs.matrix": named };
    expect(await github.runJob(machine, "comment", given)).toMatchObject({ code: 0 });
    return machine.read("written");
  }

  test.each([false, true])(
    "has one comment with the changes of each stack (an earlier one: %s)",
    async (isThere) => {
      const onGitHub = new Machine();
      const byGitHub = await commentOnGitHub(onGitHub, previews, matrix, listed(MARKER, isThere));
      expect(onGitHub.transcript()).toEqual([
        isThere ? "PATCH /issues/comments/5" : "POST /issues/7/comments",
      ]);
      const onGitLab = new Machine('[ "$1" = install ] || { printf %s "$TEXT" >&2; exit $CODE; }');
      const env = gitlab.variablesOf(await standInForHost(onGitLab, listed(MARKER, isThere)));
      for (const [at, [code, TEXT]] of previews.entries()) {
        const given = { ...shop, PROJECT: `p${at}`, NUMBER: `${at}`, TEXT, CODE: `${code}` };
        expect(await gitlab.runJob(onGitLab, ".preview", given)).toMatchObject({ code });
      }
      expect(await gitlab.runJob(onGitLab, ".comment", { ...env, MATRIX: matrix })).toMatchObject({
        code: 0,
      });
      expect(onGitLab.transcript().slice(-3)).toEqual([
        `/shop> pulumi preview --stack prod --diff ${QUIET}`,
        "> npm ci",
        isThere ? "PUT /merge_requests/7/notes/5" : "POST /merge_requests/7/notes",
      ]);

      for (const written of [byGitHub, onGitLab.read("written")]) {
        expect(written).toContain("\n**Preview for abc: 1 with changes, 1 without, 1 failed** (");
        expect(written).toContain(
          "<summary><code>p0 prod</code>: ~ 1 to update</summary>\n\n<pre>\n~ shop: &lt;",
        );
        expect(written).toContain(
          "<summary><code>p2 prod</code>: failed (255)</summary>\n\n<pre>\nit failed\n</pre>",
        );
        expect(written).toContain("\nWithout changes: <code>p1 prod</code>");
        expect(written).not.toContain("<b>");
        expect(written).toContain("\n&#47;close\n&#64;all\n");
      }
    },
  );

  test("counts a preview that ended early or never began as failed, and shows what it printed", async () => {
    const written = await commentOnGitHub(new Machine(), [
      [undefined, ""],
      [0, "Resources:\n    3 unchanged\n"],
      [undefined, "it was killed"],
    ]);
    expect(written).toContain("\n**Preview for abc: 0 with changes, 1 without, 2 failed** (");
    expect(written).toContain(
      "<code>p0 prod</code>: failed</summary>\n\n<pre>\nThere is no preview: the job failed before it.\n",
    );
    expect(written).toContain("<code>p2 prod</code>: failed</summary>\n\n<pre>\nit was killed\n");
    expect(written).toContain("\nWithout changes: <code>p1 prod</code>");
  });

  test("names in a comment as many changed stacks as fit into the length that GitHub accepts, and counts the others", async () => {
    // The most jobs of a matrix.
    const all: typeof previews = Array(256).fill([0, "+ & ".repeat(1_000) + previews[0]?.[1]]);
    const names = all.map((_, at) => `${"long-name-of-a-project-".repeat(4)}${at}`);
    const comment = await commentOnGitHub(new Machine(), all, matrixOf(names));
    expect(comment.length).toBeLessThan(65_536);
    expect(comment).toContain("256 with changes");
    const shown = comment.match(/<details>/g)?.length ?? 0;
    expect(shown).toBeGreaterThan(100);
    expect(comment.match(/<\/pre>\n<\/details>\n/g)).toHaveLength(shown);
    expect(comment).toContain(`\nAnd ${256 - shown} more: see [the run](`);
    expect(comment).toContain("\nWithout changes: none");
  });

  test("cuts a comment and an issue to the length that GitHub accepts, and keeps the important parts", async () => {
    const machine = new Machine("", { code: 7, report: REPORT + "other text ".repeat(9_000) });
    // The third preview is missing.
    const all: typeof previews = Array(2).fill([0, "+ & ".repeat(30_000) + previews[0]?.[1]]);
    const comment = await commentOnGitHub(machine, all);
    expect(comment.length).toBeLessThan(65_536);
    expect(comment.match(/<\/pre>\n<\/details>\n/g)).toHaveLength(3);
    expect(comment).toContain("<pre>\nThere is no preview: the job failed before it.\n");
    await github.runJob(machine, "drift", { api: await standInForHost(machine) });
    expect(machine.read("written").length).toBeLessThan(65_536);
    expect(machine.read("written")).toContain(DRIFTED[0]);
  });
});

import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { until } from "../until";
import * as github from "./github";
import * as gitlab from "./gitlab";
import { isInstalled, Machine, QUIET, recipes } from "./machine";

/* The commands that recipes call in each situation. All commands are stand-ins, except this package's `stacks`. */

const LIST_STACKS = "> npx --no-install pulumi-endpoints stacks --projects stacks.yaml --json -";
const readKey = { ENDPOINTS_API_KEY: "read-key" };
/** The variables of a stack's job on GitLab. */
const shop = { FOLDER: "shop", PROJECT: "shop", STACK: "prod", PROJECTS: "stacks.yaml" };

/** The existing comments or issues, on two pages: those of others, and perhaps ours. */
function listed(marker: string, isOursThere: boolean): { onGitHub: object[]; onGitLab: object[] } {
  const all = [
    { id: 1, isBot: false, body: `${marker}\nas the bot says` },
    { id: 2, isBot: true, body: "of another pipeline" },
    { id: 3, isBot: false, body: null },
    ...(isOursThere ? [{ id: 5, isBot: true, body: `${marker}\n` }] : []),
  ];
  return {
    onGitHub: all.map(({ id, isBot, body }) => ({
      ...{ id, number: id, body, user: { login: isBot ? "github-actions[bot]" : "somebody" } },
    })),
    onGitLab: all.map(({ id, isBot, body }) => ({
      ...{ id, iid: id, body, description: body, author: isBot ? gitlab.BOT : { id: 5 } },
    })),
  };
}

describe.skipIf(!isInstalled("jq"))("a pipeline", () => {
  const up = (repair: boolean) => `up --stack prod --yes --refresh=${repair} ${QUIET}`;
  const CANCEL = "cancel --stack prod --yes --non-interactive";
  const LOOK = "> npx --no-install pulumi-endpoints drift --projects stacks.yaml --stack shop/prod --json";
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
    const withKey = calls.map((call) =>
      call === LOOK
        ? `${LOOK} ~/recovery.json (write-key)`
        : `/shop> pulumi ${call}${call === "install" ? "" : " (write-key)"}`,
    );
    expect(onGitHub.transcript()).toEqual(["> npm ci", ...withKey]);

    const onGitLab = new Machine(pulumi);
    const env = {
      ENDPOINTS_API_KEY: "key",
      ...shop,
      RECOVER: repairs,
      REPAIR: repairs,
    };
    expect(await gitlab.runJob(onGitLab, ".up", env)).toMatchObject({ code });
    const all = [
      "> npm ci",
      ...calls.map((call) => (call === LOOK ? `${LOOK} recovery.json` : `/shop> pulumi ${call}`)),
    ];
    expect(onGitLab.transcript()).toEqual(all.map((call) => `${call} (key)`));
  });

  /** What `drift` reports of the stack shop/prod. */
  const lookOf = (recovery?: object) => {
    const json = { stacks: [{ name: "shop/prod", ...(recovery && { recovery }) }] };
    return { code: recovery ? 8 : 0, report: "a report with pulumi up in it\n    pulumi up", json };
  };
  const LEFT = lookOf({ text: "", command: "pulumi up", adopt: ["ep_1", "ep_2"], lost: [] });
  const OTHER_STEP = "The report names another step, which comes first.";
  test.each<[string, drift: ReturnType<typeof lookOf>, ids: string, stopsWith: string | undefined]>([
    ["left endpoints, without their ids", LEFT, "", "Check that no other stack has ep_1,ep_2. Then"],
    ["left endpoints, with one of their ids", LEFT, "ep_1,ep_3", "Check that no other stack has ep_2. Then"],
    ["left endpoints, with their ids", LEFT, "ep_2,ep_1", undefined],
    ["left nothing", lookOf({ text: "", command: "pulumi up", adopt: [], lost: [] }), "", undefined],
    ["is over, since nothing is pending", lookOf(), "", undefined],
    ["left members of a pool", lookOf({ text: "", adopt: ["ep_1"], lost: ["ep_2"] }), "ep_1", OTHER_STEP],
    ["is partly unchecked", lookOf({ text: "", adopt: [], lost: [] }), "", OTHER_STEP],
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
      comment: { extends: ".comment", variables: { PREVIEWED: "api prod\nshop prod" } },
    });
  });

  const ISSUE = "<!-- endpoints drift of stacks.yaml -->";
  const REPORT = "1 of 4 cloud endpoints drifted.\n\nStack prod: drifted <b>\n::error::evil\n/close @all\n";
  const DRIFTED = [
    "\n**1 of 4 cloud endpoints drifted.** The whole report",
    "\n<pre>\n1 of 4 cloud endpoints drifted.\n\nStack prod: drifted &lt;b&gt;\n",
  ];
  const DIFFERS = ["but these programs do not, or their previews failed", "\n<pre>\nshop prod\ndiffers\n"];
  const UNDEPLOYED = [DRIFTED[0] ?? "", "The last run of a stack failed or was killed", DRIFTED[1] ?? ""];
  const preview = (folder: string) =>
    `/${folder}> pulumi preview --stack prod --expect-no-changes ${QUIET} (read-key)`;
  /** The calls for each change of the issue, to GitHub's CLI and to GitLab's API. */
  const CALLS = {
    none: [],
    opened: [
      "> gh issue create --title Endpoints of stacks.yaml are not as deployed --label endpoints-drift --body-file ~/issue.md",
      "POST /issues Endpoints of stacks.yaml are not as deployed endpoints-drift",
    ],
    edited: ["> gh issue edit 5 --body-file ~/issue.md", "PUT /issues/5"],
    closed: [
      "> gh issue close 5 --comment Gone: the programs, the states and the service agree. /acme/shop/actions/runs/",
      "PUT /issues/5 close",
    ],
  };
  test.each<
    [string, code: number, isOpen: boolean, differs: boolean, issue: keyof typeof CALLS, text?: string[]]
  >([
    ["no drift", 0, false, false, "none"],
    ["a failed or killed last deploy", 8, false, false, "opened", UNDEPLOYED],
    ["one as before", 8, true, false, "edited", UNDEPLOYED],
    ["a wrong key", 1, true, false, "none"],
    ["drift, and an issue of others", 7, false, false, "opened", DRIFTED],
    ["drift as before", 7, true, false, "edited", DRIFTED],
    ["drift that is gone", 0, true, false, "closed"],
    ["a failed repair", 0, true, true, "edited", DIFFERS],
  ])("that finds %s makes these calls", async (_, code, isOpen, differs, issue, text = []) => {
    const pulumi = `[ "$1" = install ] && exit\necho "differs"\n[ "$3" != ${differs ? "shop" : "none"} ]`;
    const compared = isOpen && code === 0;
    const issues = listed(ISSUE, isOpen);
    const [byGitHub = [], byGitLab = []] = CALLS[issue].map((call) => [call]);
    const hasText = (machine: Machine) => {
      if (text.length === 0) return;
      const written = machine.read("written");
      expect(written.startsWith(`${ISSUE}\n`)).toBe(true);
      for (const part of text) expect(written).toContain(part);
    };

    const onGitHub = new Machine(pulumi, { code, report: REPORT });
    github.standInForGitHub(onGitHub, issues.onGitHub);
    const ended = await github.runJob(onGitHub, "drift");
    expect(onGitHub.transcript()).toEqual([
      "> npm ci",
      "> gh label create endpoints-drift --force --description Kept by the workflow: endpoints drift",
      "> gh api --paginate repos/acme/shop/issues?state=open&labels=endpoints-drift&per_page=100",
      ...(isOpen ? [LIST_STACKS, "/api> pulumi install", "/shop> pulumi install"] : []),
      "> npx --no-install pulumi-endpoints drift --projects stacks.yaml --html ~/drift.html (read-key)",
      ...(compared ? [preview("api"), preview("shop")] : []),
      ...byGitHub,
    ]);
    expect(ended.code).toBe(code === 1 ? 1 : 0);
    // Between these lines, the runner executes no command. In the summary, markup is escaped.
    expect(ended.output).toMatch(/::stop-commands::(\S{30,})\n[\s\S]*::error::evil\n[\s\S]*\n::\1::\n/);
    expect(onGitHub.read("summary")).toContain("\nStack prod: drifted &lt;b&gt;\n::error::evil\n");
    hasText(onGitHub);

    const onGitLab = new Machine(pulumi, { code, report: REPORT });
    const env = await gitlab.standInForGitLab(onGitLab, issues.onGitLab);
    // Drift is a warning of the job, and so is a failed or killed deploy.
    const ran = await gitlab.runJob(onGitLab, "drift", { ...env, ...readKey });
    expect(ran).toMatchObject({ code });
    expect(onGitLab.transcript()).toEqual([
      "> npm ci (read-key)",
      "> npx --no-install pulumi-endpoints drift --projects stacks.yaml --html drift.html (read-key)",
      ...(compared ? [`${LIST_STACKS} (read-key)`] : []),
      ...(compared
        ? ["api", "shop"].flatMap((name) => [`/${name}> pulumi install (read-key)`, preview(name)])
        : []),
      ...byGitLab,
    ]);
    hasText(onGitLab);
    if (text === DRIFTED) expect(onGitLab.read("written")).toContain("\n&#47;close &#64;all\n");
  });

  test("counts unmanaged endpoints as drift if a variable says so", async () => {
    const FAIL_ON_UNMANAGED = "true";
    const onGitHub = new Machine();
    github.standInForGitHub(onGitHub, []);
    await github.runJob(onGitHub, "drift", { "vars.FAIL_ON_UNMANAGED": FAIL_ON_UNMANAGED });
    const onGitLab = new Machine();
    const env = await gitlab.standInForGitLab(onGitLab, []);
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
      expect(machine.read("preview/preview.txt")).toBe(evil);
      expect(existsSync(join(machine.scratch, "preview/succeeded"))).toBe(code === 0);
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

  /** The variables of GitLab's comment, which its pipeline.mjs writes. */
  const PREVIEWED = { PREVIEWED: previews.map((_, at) => `p${at} prod`).join("\n") };

  /** Writes GitHub's comment about previews, and returns it. */
  async function commentOnGitHub(machine: Machine, all: typeof previews, named = matrix): Promise<string> {
    for (const [at, [code, text]] of all.entries()) {
      const folder = join(machine.scratch, `previews/preview-${at}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "preview.txt"), text);
      if (code === 0) writeFileSync(join(folder, "succeeded"), "");
    }
    expect(await github.runJob(machine, "comment", { "inputs.matrix": named })).toMatchObject({ code: 0 });
    return machine.read("written");
  }

  test.each([false, true])(
    "has one comment with the changes of each stack (an earlier one: %s)",
    async (isThere) => {
      const onGitHub = new Machine();
      github.standInForGitHub(onGitHub, listed("<!-- endpoints preview of endpoints -->", isThere).onGitHub);
      const byGitHub = await commentOnGitHub(onGitHub, previews);
      const comments = "repos/acme/shop/issues";
      const to = isThere ? `PATCH ${comments}/comments/5` : `POST ${comments}/7/comments`;
      expect(onGitHub.transcript()).toEqual([
        `> gh api --paginate ${comments}/7/comments?per_page=100`,
        `> gh api --silent --method ${to} --field body=@~/comment.md`,
      ]);
      const onGitLab = new Machine('[ "$1" = install ] || { printf %s "$TEXT"; exit $CODE; }');
      const { onGitLab: notes } = listed("<!-- endpoints preview of stacks.yaml -->", isThere);
      const env = await gitlab.standInForGitLab(onGitLab, notes);
      for (const [at, [code, TEXT]] of previews.entries()) {
        const given = {
          FOLDER: "shop",
          PROJECT: `p${at}`,
          STACK: "prod",
          NUMBER: `${at}`,
          TEXT,
          CODE: `${code}`,
        };
        expect(await gitlab.runJob(onGitLab, ".preview", given)).toMatchObject({ code });
      }
      expect(await gitlab.runJob(onGitLab, ".comment", { ...env, ...PREVIEWED })).toMatchObject({ code: 0 });
      expect(onGitLab.transcript().slice(-3)).toEqual([
        `/shop> pulumi preview --stack prod --diff ${QUIET}`,
        "> npm ci",
        isThere ? "PUT /merge_requests/7/notes/5" : "POST /merge_requests/7/notes",
      ]);

      const byGitLab = onGitLab.read("written");
      for (const written of [byGitHub, byGitLab]) {
        expect(written).toContain("\n**Preview for abc: 1 with changes, 1 without, 1 failed** (");
        expect(written).toMatch(
          /<summary><code>p0 prod<\/code>: ~ 1 to update ?<\/summary>\n\n<pre>\n~ shop: &lt;/,
        );
        expect(written).toMatch(
          /<summary><code>p2 prod<\/code>: failed.*<\/summary>\n\n<pre>\nit failed\s+<\/pre>/,
        );
        expect(written).toContain("\nWithout changes: <code>p1 prod</code>");
        expect(written).not.toContain("<b>");
      }
      expect(byGitLab).toContain("\n&#47;close\n&#64;all\n");
    },
  );

  test("counts a preview that ended early or never began as failed, and shows what it printed", async () => {
    const onGitHub = new Machine();
    github.standInForGitHub(onGitHub, []);
    const onGitLab = new Machine();
    const env = await gitlab.standInForGitLab(onGitLab, []);
    const parts = [
      [onGitHub, join(onGitHub.scratch, "previews/preview-1"), "succeeded"],
      [onGitLab, join(onGitLab.folder, "previews/1"), "outcome.txt"],
    ] as const;
    for (const [machine, folder, outcome] of parts) {
      const other = folder.replace(/1$/, "2");
      for (const each of [folder, other]) mkdirSync(each, { recursive: true });
      writeFileSync(join(folder, "preview.txt"), "Resources:\n    3 unchanged\n");
      writeFileSync(join(folder, outcome), "0\n");
      writeFileSync(join(other, "preview.txt"), "it was killed");
      const ran =
        machine === onGitHub
          ? await github.runJob(machine, "comment", { "inputs.matrix": matrix })
          : await gitlab.runJob(machine, ".comment", { ...env, ...PREVIEWED });
      expect(ran).toMatchObject({ code: 0 });
      const written = machine.read("written");
      expect(written).toContain("\n**Preview for abc: 0 with changes, 1 without, 2 failed** (");
      expect(written).toMatch(
        /<code>p0 prod<\/code>: failed<\/summary>\n\n<pre>\nThere is no preview: the job failed before it\.\n/,
      );
      expect(written).toMatch(/<code>p2 prod<\/code>: failed<\/summary>\n\n<pre>\nit was killed\n/);
      expect(written).toContain("\nWithout changes: <code>p1 prod</code>");
    }
  });

  test("names in a comment as many changed stacks as fit into the length that GitHub accepts, and counts the others", async () => {
    const machine = new Machine();
    github.standInForGitHub(machine, []);
    // The most jobs of a matrix.
    const all: typeof previews = Array(256).fill([0, "+ & ".repeat(1_000) + previews[0]?.[1]]);
    const names = all.map((_, at) => `${"long-name-of-a-project-".repeat(4)}${at}`);
    const comment = await commentOnGitHub(machine, all, matrixOf(names));
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
    github.standInForGitHub(machine, []);
    // The third preview is missing.
    const all: typeof previews = Array(2).fill([0, "+ & ".repeat(30_000) + previews[0]?.[1]]);
    const comment = await commentOnGitHub(machine, all);
    expect(comment.length).toBeLessThan(65_536);
    expect(comment.match(/<\/pre>\n<\/details>\n/g)).toHaveLength(3);
    expect(comment).toContain("<pre>\nThere is no preview: the job failed before it.\n");
    await github.runJob(machine, "drift");
    expect(machine.read("written").length).toBeLessThan(65_536);
    expect(machine.read("written")).toContain(DRIFTED[0]);
  });
});

describe.skipIf(!isInstalled("flock"))("the script for cron", () => {
  const GIT = '[ "$COMMIT" != none ] || exit 1; if [ "$1" = rev-parse ]; then echo "$COMMIT"; fi';
  const script = join(recipes, "cron/endpoints.sh");
  const settings = (machine: Machine) => ({
    ...{
      PROJECT: machine.folder,
      STATE: join(machine.scratch, "state"),
      ENDPOINTS_API_KEY: "key",
      COMMIT: "a1",
    },
  });
  const run = (machine: Machine, what: string, env: Record<string, string> = {}) =>
    machine.run(["sh", script, what], { ...settings(machine), ...env });
  /** The line of a status, with T for its time. */
  const status = (machine: Machine, what: string) =>
    machine.read(`state/${what}.status`).replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$/, "T");

  test("deploys each commit once, and again if the deployment failed", async () => {
    const machine = new Machine('[ "$1" = install ] || exit $PULUMI');
    machine.standIn("git", GIT);
    const PULL = "> git pull --quiet --ff-only (key)";
    const LOOK = [PULL, "> git rev-parse HEAD (key)", "> git rev-parse @{upstream} (key)"];
    const up = `> pulumi up --stack prod --yes ${QUIET} (key)`;
    const DEPLOY = [...LOOK, "> npm ci (key)", "> pulumi install (key)", up];
    for (const [situation, COMMIT, PULUMI, code, line, calls] of [
      ["a first deploy", "a1", 0, 0, "deployed a1 T", DEPLOY],
      ["nothing new", "a1", 0, 0, "deployed a1 T", LOOK],
      ["a failed deploy", "b2", 9, 9, "failed (9) b2 T", DEPLOY],
      ["a failed deploy, again", "b2", 0, 0, "deployed b2 T", DEPLOY],
      ["a failed pull", "none", 0, 1, "failed (git pull) T", [PULL]],
      ["a pull that succeeds again", "b2", 0, 0, "deployed b2 T", LOOK],
    ] as const) {
      const before = machine.transcript().length;
      const ran = await run(machine, "up", { COMMIT, PULUMI: `${PULUMI}` });
      expect([situation, ran, status(machine, "up")]).toEqual([situation, { code, output: "" }, line]);
      expect(machine.transcript().slice(before), situation).toEqual(calls);
    }
  });

  test("deploys no commit that the branch does not have any more, and deploys again after the step of its message", async () => {
    const machine = new Machine('[ "$1" = install ] || exit $PULUMI');
    const git = (...args: string[]) =>
      machine.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.com", ...args]);
    const remote = join(machine.scratch, "remote.git");
    const head = async () => (await git("rev-parse", "HEAD")).output.trim();
    await git("init", "--quiet", "--bare", "--initial-branch=main", remote);
    await git("init", "--quiet", "--initial-branch=main");
    await git("add", ".");
    await git("commit", "--quiet", "--message=a");
    const a = await head();
    await git("remote", "add", "origin", remote);
    await git("push", "--quiet", "--set-upstream", "origin", "main");
    await git("commit", "--quiet", "--allow-empty", "--message=b");
    const b = await head();
    await git("push", "--quiet");

    expect(await run(machine, "up", { PULUMI: "9" })).toMatchObject({ code: 9 });
    expect(status(machine, "up")).toBe(`failed (9) ${b} T`);
    await machine.run(["git", "-C", remote, "update-ref", "refs/heads/main", a]);
    const before = machine.transcript().length;
    const ran = await run(machine, "up", { PULUMI: "0" });
    expect(ran).toEqual({ code: 1, output: "" });
    expect(status(machine, "up")).toBe(`failed (not the upstream commit) ${b} T`);
    expect(machine.transcript().slice(before)).toEqual([]);

    const [, step = "exit 2"] = /`(git .*)`/.exec(machine.read("state/up.txt")) ?? [];
    expect(await machine.run(["sh", "-c", step])).toMatchObject({ code: 0 });
    expect(await run(machine, "up", { PULUMI: "0" })).toEqual({ code: 0, output: "" });
    expect(status(machine, "up")).toBe(`deployed ${a} T`);
  });

  const CHECK = "> npx --no-install pulumi-endpoints drift --stack prod --html ~/state/drift.html.new (key)";
  const COMPARE = `> pulumi preview --stack prod --expect-no-changes ${QUIET} (key)`;
  test.each([
    ["no drift", 0, 0, 0, "none T", [CHECK, COMPARE]],
    ["drift", 7, 0, 7, "drift T", [CHECK]],
    ["a program that is not deployed", 0, 1, 8, "undeployed T", [CHECK, COMPARE]],
    ["a failed or killed last deploy", 8, 0, 8, "undeployed T", [CHECK]],
    ["a wrong key", 1, 0, 1, "check failed (1) T", [CHECK]],
  ])(
    "after a check that finds %s has this status, and results that only its group can read",
    async (...row) => {
      const [, driftCode, pulumi, code, line, calls] = row;
      const machine = new Machine(`exit ${pulumi}`, { code: driftCode, report: "the report" });
      expect(await run(machine, "drift")).toEqual({ code, output: "" });
      expect([status(machine, "drift"), machine.read("state/drift.txt")]).toEqual([line, "the report"]);
      expect(machine.transcript()).toEqual(calls);
      const mode = (file: string) => statSync(join(machine.scratch, "state", file)).mode & 0o777;
      expect(["", "drift.txt", "drift.status"].map(mode)).toEqual([0o750, 0o640, 0o640]);
    },
  );

  test("counts unmanaged endpoints as drift if a variable says so", async () => {
    const machine = new Machine("", { code: 7, report: "the report" });
    await run(machine, "drift", { FAIL_ON_UNMANAGED: "true" });
    expect(machine.transcript()).toEqual([CHECK.replace("prod", "prod --fail-on-unmanaged")]);
  });

  test("never runs twice at the same time, and processes that survive a killed script keep the lock", async () => {
    const machine = new Machine();
    machine.standIn("npx", 'touch "$STATE/started"; while [ ! -e "$STATE/end" ]; do sleep 0.1; done');
    const kill = 'sh "$0" drift & while [ ! -e "$STATE/started" ]; do sleep 0.1; done; kill -9 $!';
    await machine.run(["sh", "-c", kill, script], settings(machine));
    const refused = { code: 75, output: "endpoints.sh up: another run is in progress\n" };
    expect(await run(machine, "up")).toEqual(refused);
    writeFileSync(join(machine.scratch, "state/end"), "");
    await until(async () => (await run(machine, "drift")).code === 0);
  });
});

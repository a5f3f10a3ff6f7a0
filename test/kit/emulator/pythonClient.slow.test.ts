import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { findOnPath } from "../../../sdk/pulumi-cli/index";
import { Emulator } from "../../../sdk/testing";
import { temporaryFolder } from "../../folders";

const run = promisify(execFile);
const python = await findOnPath("python3");

/** Does with the service's own client what the provider does, and prints what the client made of each reply. */
const PROGRAM = `
import json, sys, ngrok
client = ngrok.Client(sys.argv[2], sys.argv[1])
endpoints = client.endpoints

def failure(call):
    try:
        call()
    except ngrok.Error as error:
        return [type(error).__name__, error.http_status_code, error.error_code, bool(error.operation_id)]

def shown(endpoint, *names):
    # The client's properties fail on a field that a reply omits.
    return [endpoint._props.get(name) for name in names]

policy = json.dumps({"on_http_request": [{"actions": [{"type": "deny"}]}]})
made = endpoints.create("https://shop.example.com", "cloud", policy, description="front door", metadata="team: shop", bindings=["public"])
seen = {"created": shown(made, "type", "proto", "public_url", "hostport", "description", "metadata", "bindings")}
seen["read"] = endpoints.get(made.id) == made
seen["taken"] = failure(lambda: endpoints.create("https://shop.example.com", "cloud", policy))
seen["invalid"] = failure(lambda: endpoints.create("ftp://shop.example.com", "cloud", policy))
changed = endpoints.update(made.id, description="back door")
seen["changed"] = shown(changed, "description", "metadata") + [changed.traffic_policy == policy]
cleared = endpoints.update(made.id, description="", metadata="")
seen["cleared"] = shown(cleared, "description", "metadata")
moved = endpoints.update(made.id, url="https://else.example.com")
seen["moved"] = [moved.id == made.id, moved.hostport]
pool = [endpoints.create("https://pool.example.com", "cloud", policy, pooling_enabled=True).id for _ in range(2)]
first = endpoints.list(limit="1")
seen["pages"] = [len(first.endpoints), [one.id for one in first] == [*reversed(pool), made.id]]
seen["filtered"] = [one.url for one in endpoints.list(filter=f'obj.id == "{made.id}"')]
for id in [made.id, *pool]:
    endpoints.delete(id)
seen["left"] = [one.id for one in endpoints.list()]
gone = [lambda: endpoints.get(made.id), lambda: endpoints.update(made.id, description="x"), lambda: endpoints.delete(made.id)]
seen["gone"] = [failure(call) for call in gone]
other = ngrok.Client("secret", sys.argv[1]).endpoints
seen["key"] = failure(lambda: other.list())
print(json.dumps(seen))
`;

describe.skipIf(!python)("with Python on the PATH, the service's own client", () => {
  test("creates, lists, reads, changes, clears, moves and deletes on the emulator, and knows its errors", async (context) => {
    const folder = temporaryFolder();
    await run(`${python}`, ["-m", "venv", folder]);
    const inFolder = (...args: string[]) => run(join(folder, "bin", "python"), args);
    await inFolder("-m", "pip", "install", "--quiet", "ngrok-api==0.19.0").catch((error: Error) => {
      context.skip(/No matching distribution|timed out|Retrying/.test(error.message), "PyPI is out of reach");
      throw error;
    });
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    const { stdout } = await inFolder("-c", PROGRAM, emulator.baseUrl, emulator.apiKey);
    const gone = ["NotFoundError", 404, "ERR_NGROK_222", true];
    expect(JSON.parse(stdout)).toEqual({
      created: [
        ...["cloud", "https", "https://shop.example.com", "shop.example.com:443"],
        ...["front door", "team: shop", ["public"]],
      ],
      read: true,
      taken: ["Error", 400, "ERR_NGROK_18017", true],
      invalid: ["Error", 400, "ERR_NGROK_18001", true],
      changed: ["back door", "team: shop", true],
      // A field without a value is left out.
      cleared: [null, null],
      moved: [true, "else.example.com:443"],
      pages: [1, true],
      filtered: ["https://else.example.com"],
      left: [],
      gone: [gone, gone, gone],
      key: ["Error", 401, "ERR_NGROK_202", true],
    });
  });
});

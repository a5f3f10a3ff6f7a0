import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const page = readFileSync(join(import.meta.dirname, "../../docs/adoption.md"), "utf8");
const [, filter = ""] = /terraform show -json \| jq -r '([^']+)'/.exec(page) ?? [];

const endpoint = (address: string, id: string, mode = "managed") => ({
  address,
  mode,
  type: "ngrok_cloud_endpoint",
  name: "shop",
  values: { id, url: `https://${id}.example.com` },
});

/** A state in the format of `terraform show -json`. */
const shown = {
  format_version: "1.0",
  values: {
    root_module: {
      resources: [
        endpoint('ngrok_cloud_endpoint.shop["eu"]', "eu"),
        endpoint('ngrok_cloud_endpoint.shop["us"]', "us"),
        endpoint("data.ngrok_cloud_endpoint.shop", "read", "data"),
        { ...endpoint("ngrok_domain.shop", "rd"), type: "ngrok_domain" },
      ],
      child_modules: [
        { address: "module.empty" },
        {
          address: "module.a",
          resources: [endpoint("module.a.ngrok_cloud_endpoint.shop[0]", "a")],
          child_modules: [
            {
              address: "module.a.b",
              resources: [endpoint("module.a.module.b.ngrok_cloud_endpoint.shop", "b")],
            },
          ],
        },
      ],
    },
  },
};

test.skipIf(spawnSync("jq", ["--version"]).status !== 0)(
  "the jq command on the page lists every endpoint of a Terraform state, including modules and instances",
  () => {
    const { stdout, stderr } = spawnSync("jq", ["-r", filter], {
      input: JSON.stringify(shown),
      encoding: "utf8",
    });
    expect({ stderr, lines: stdout.trim().split("\n") }).toEqual({
      stderr: "",
      lines: [
        'ngrok_cloud_endpoint.shop["eu"] eu https://eu.example.com',
        'ngrok_cloud_endpoint.shop["us"] us https://us.example.com',
        "module.a.ngrok_cloud_endpoint.shop[0] a https://a.example.com",
        "module.a.module.b.ngrok_cloud_endpoint.shop b https://b.example.com",
      ],
    });
  },
);

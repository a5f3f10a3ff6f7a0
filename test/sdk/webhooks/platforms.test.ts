import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { closestName } from "../../../provider/data/index";
import { webhookPlatforms } from "../../../sdk";
import { platformNames, secretSource } from "../../../sdk/webhooks/secretSource";

describe("the catalogue of platforms", () => {
  const all = Object.entries(webhookPlatforms);

  test("has 69 platforms, each with both the origin and the place of its secret, or with neither", () => {
    expect(all).toHaveLength(69);
    for (const [id, { origin, where, page }] of all) {
      expect(where !== undefined, id).toBe(origin !== undefined);
      expect(new URL(page).protocol, id).toBe("https:");
    }
  });
});

test("the page on webhooks lists the platforms that have a form of secrets", () => {
  const page = readFileSync("docs/webhooks.md", "utf8");
  const [, listed = ""] = /Eight platforms have a documented form(.*?)Of the other/s.exec(page) ?? [];
  const withForm = Object.entries(webhookPlatforms).filter(([, platform]) => "form" in platform);
  expect([...listed.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name).sort()).toEqual(
    withForm.map(([name]) => name).sort(),
  );
  expect(withForm).toHaveLength(8);
});

describe("the nearest name of a platform", () => {
  test.each([
    // Other names, other letter case, and typing errors.
    ["GitHub", "github"],
    ["Hygraph", "graphcms"],
    ["calendy", "calendly"],
  ])("for %s is %s", (written, meant) => {
    expect(closestName(written, platformNames)).toBe(meant);
  });

  test.each(["okta", "paypal", "mybank", "x", ""])("for %j is none", (written) => {
    expect(closestName(written, platformNames)).toBeUndefined();
  });
});

describe("secretSource", () => {
  test.each([
    ["github", /^Generate/],
    ["brex", /^Get it from Brex's API \(GET \/v1\/webhooks\/secrets.*ACTIVE\).*rotation/],
    ["sns", /^Copy the sending account from Amazon SNS \(Topic owner.*nothing to rotate/],
    ["toString", /^The catalogue does not have this platform\. Its own documentation/],
  ])("explains where the secret for %s comes from", (platform, sentence) => {
    expect(secretSource(platform)).toMatch(sentence);
  });
});

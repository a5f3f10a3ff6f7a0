import { describe, expect, test } from "vitest";
import { webhookPlatforms } from "../../../sdk";
import { nearestPlatform, secretSource } from "../../../sdk/webhooks/platforms";

describe("the catalogue", () => {
  const all = Object.entries(webhookPlatforms);

  test("has 69 platforms, each with where its secret comes from and exactly where, or neither", () => {
    expect(all).toHaveLength(69);
    for (const [id, { origin, where, page }] of all) {
      expect(where !== undefined, id).toBe(origin !== undefined);
      expect(new URL(page).protocol, id).toBe("https:");
    }
  });

  test("names the challenges that the service answers, and those that reach the application", () => {
    const of = (challenge: string) =>
      all.flatMap(([id, info]) => (info.challenge === challenge ? [id] : [])).join(" ");
    expect(of("answered")).toBe("twitter worldline xero zoom");
    expect(of("forwarded")).toBe(
      "dropbox facebook_graph_api facebook_messenger instagram slack terraform whatsapp",
    );
  });
});

describe("a platform that is not in the catalogue", () => {
  test.each([
    // The three spellings of the vendor's guides.
    ["signalsciences", "signal_sciences"],
    ["sonatype_nexus", "sonatype"],
    ["vmware_workspace", "vmware"],
    // Other spellings of a name, letter case, and slips.
    ["GitHub", "github"],
    ["Hygraph", "graphcms"],
    ["launch-darkly", "launch_darkly"],
    ["Amazon SNS", "sns"],
    ["calendy", "calendly"],
    ["stirpe", "stripe"],
    ["githib", "github"],
  ])("is taken for a near one: %s for %s", (written, meant) => {
    expect(nearestPlatform(written)).toBe(meant);
  });

  test.each(["okta", "paypal", "mybank", "x", ""])("is taken for none where none is near: %j", (written) => {
    expect(nearestPlatform(written)).toBeUndefined();
  });
});

describe("where a secret comes from", () => {
  test.each([
    ["calendly", /^Make up .* Calendly \(signing_key of .*rotate/],
    ["github", /^Make up/],
    ["stripe", /^Copy it from Stripe .*rotate/],
    ["pagerduty", /^PagerDuty shows it only when it is made .*rotate/],
    ["brex", /^Ask Brex's API for it \(GET \/v1\/webhooks\/secrets.*ACTIVE\).*rotation/],
    ["twilio", /^It is a credential that Twilio gave you .*rotate/],
    ["sns", /^Copy the account that sends from Amazon SNS \(Topic owner.*nothing to rotate/],
    ["square", /^Square's own page says/],
    ["toString", /^The catalogue does not have this platform: its own documentation/],
  ])("is explained for %s in a sentence", (platform, sentence) => {
    expect(secretSource(platform)).toMatch(sentence);
  });

  test("is explained without the name of a platform that the catalogue lacks, unless that may be shown", () => {
    expect(secretSource("CANARY-71aa")).not.toContain("CANARY");
    expect(secretSource("okta", "okta")).toMatch(/^The catalogue does not have okta: its own documentation/);
  });
});

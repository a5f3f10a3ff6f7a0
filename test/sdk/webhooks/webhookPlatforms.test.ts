import { describe, expect, test } from "vitest";
import { webhookPlatforms } from "../../../sdk";
import { nearestPlatform, secretSource } from "../../../sdk/webhooks/platforms";

const identifiers =
  `aftership airship alchemy sns autodesk bitbucket bolt box brex buildkite calendly castle chargify
  circleci clearbit clerk coinbase contentful docusign dropbox facebook_graph_api facebook_messenger frameio github gitlab
  go1 heroku hostedhooks hubspot graphcms instagram intercom jira launch_darkly linear mailchimp mailgun microsoft_teams
  modern_treasury mongodb mux orb orbit pagerduty pinwheel plivo pusher sendgrid sentry shopify signal_sciences slack
  sonatype square stripe svix terraform tiktok trendmicro_conformity twilio twitter typeform vmware webex whatsapp
  worldline xero zendesk zoom`.split(/\s+/);

describe("the catalogue", () => {
  test("has the 69 platforms that the service documents, and no other", () => {
    expect(identifiers).toHaveLength(69);
    expect(Object.keys(webhookPlatforms).sort()).toEqual([...identifiers].sort());
  });

  test("says where each secret comes from and exactly where, or neither", () => {
    for (const [id, { origin, where, page }] of Object.entries(webhookPlatforms)) {
      expect(where !== undefined, id).toBe(origin !== undefined && origin !== "none");
      expect(new URL(page).protocol, id).toBe("https:");
    }
  });

  test("leaves out what its sources contradict each other about", () => {
    const silent = Object.entries(webhookPlatforms).filter(([, { origin }]) => origin === undefined);
    expect(silent.map(([id]) => id)).toEqual([
      "autodesk",
      "bolt",
      "go1",
      "mailchimp",
      "orb",
      "square",
      "twitter",
    ]);
  });

  test("knows the four challenges that the service answers, and seven that reach the application", () => {
    const of = (challenge: string) =>
      Object.entries(webhookPlatforms).flatMap(([id, info]) => (info.challenge === challenge ? [id] : []));
    expect(of("answered")).toEqual(["twitter", "worldline", "xero", "zoom"]);
    expect(of("forwarded")).toEqual([
      "dropbox",
      "facebook_graph_api",
      "facebook_messenger",
      "instagram",
      "slack",
      "terraform",
      "whatsapp",
    ]);
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
    ["sns", /no secret to get/],
    ["square", /^Square's own page says/],
    ["toString", /^The catalogue does not have this platform: its own documentation/],
  ])("is said for %s in a sentence", (platform, sentence) => {
    expect(secretSource(platform)).toMatch(sentence);
  });

  test("is said of a platform that is not in the catalogue without its name, unless that may be shown", () => {
    expect(secretSource("CANARY-71aa")).not.toContain("CANARY");
    expect(secretSource("okta", "okta")).toMatch(/^The catalogue does not have okta: its own documentation/);
  });
});

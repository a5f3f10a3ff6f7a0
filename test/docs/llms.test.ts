import { expect, test } from "vitest";
import { withShortReference } from "../../docs/generate/llms";
import * as sdk from "../../sdk";
import { entries, errorsIn } from "./compiler";
import { type Mistake, mistakes, namesIn, page, programs, withPrelude } from "./llmsPage";

test("the page for assistants has an up-to-date reference and at most 150 lines", async () => {
  expect(await withShortReference(page), "run `npm run generate`").toBe(page);
  expect(page.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
});

test("the page has five programs, and nine mistakes with effects that the tests know", () => {
  expect(programs).toHaveLength(5);
  expect(mistakes).toHaveLength(9);
  const effects =
    /^(does not compile|preview (warns|fails.*)|up fails|state holds the secret in plain text)$/;
  for (const { outcome } of mistakes) expect(outcome).toMatch(effects);
});

test("the page lists every value that a program can import", () => {
  expect(namesIn("Exports of `pulumi-endpoints`")).toEqual(expect.arrayContaining(Object.keys(sdk)));
});

test("the compiler accepts the listed names, the programs and the corrections, and those mistakes that the page does not exclude", () => {
  const imports = Object.keys(entries).map((entry) => {
    const names = namesIn(`Exports of \`${entry}\``);
    expect(names.length).toBeGreaterThan(5);
    return `import { ${names.map((name) => `type ${name}`).join(", ")} } from "${entry}";`;
  });
  const isRefused = ({ outcome }: Mistake) => outcome === "does not compile";
  const accepted = [
    ...imports,
    ...programs,
    ...mistakes.map(({ right }) => withPrelude(right)),
    ...mistakes.flatMap((mistake) => (isRefused(mistake) ? [] : mistake.wrong.map(withPrelude))),
  ];
  const refused = mistakes.filter(isRefused).flatMap(({ wrong }) => wrong.map(withPrelude));
  const errors = errorsIn([...accepted, ...refused]);
  expect(errors.slice(0, accepted.length).flat()).toEqual([]);
  expect(errors.slice(accepted.length)).toEqual([
    ["Domain", "Edge", "Tunnel"].map((name) => expect.stringContaining(`no exported member '${name}'`)),
    [expect.stringContaining("'traffic_policy' does not exist in type 'CloudEndpointArgs'")],
    [expect.stringContaining("cannot use 'await' at the top level")],
  ]);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const described = z.object({ description: z.string() });
const { provider, resources, functions } = z
  .object({
    provider: described,
    resources: z.record(z.string(), described),
    functions: z.record(z.string(), described),
  })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, "../../provider/plugin/schema.json"), "utf8")));

/** The provider, the resources and the functions of the package schema, with their descriptions. */
export const schemaItems = Object.entries({ Provider: provider, ...resources, ...functions }).map(
  ([token, { description }]) => ({ item: token.split(":").at(-1) ?? "", description }),
);

/** A program of the package schema, in one language. */
export interface SchemaExample {
  /** The item: `CloudEndpoint`. */
  name: string;
  language: string;
  code: string;
}

/** The examples in the package schema, as Pulumi's generators find them. */
export const schemaExamples: SchemaExample[] = schemaItems.flatMap(({ item, description }) =>
  [...description.matchAll(/^\{\{% example %\}\}\n### .+\n([\s\S]*?)^\{\{% \/example %\}\}$/gm)].flatMap(
    ([, example = ""]) =>
      [...example.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", code = ""]) => ({
        name: item,
        language,
        code,
      })),
  ),
);

export const examplesIn = (language: string) => schemaExamples.filter((one) => one.language === language);

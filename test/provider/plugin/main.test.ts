import { join } from "node:path";
import { test } from "vitest";
import { expectLife, folder } from "./startPlugin";

test("the plugin starts as an executable, returns version and schema, and ends with its engine", () =>
  expectLife(join(folder, "pulumi-resource-endpoints")));

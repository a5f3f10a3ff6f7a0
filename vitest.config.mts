import { defineConfig } from "vitest/config";

/** What takes minutes, other programs or a browser: `npm run test:all`. Everything else: `npm test`. */
const atLength = [
  "test/**/*.all.test.ts",
  "test/{browser,gitops,package}/**/*.test.ts",
  "test/faults/!(stories).test.ts",
];

/** End-to-end cases, written once for both drivers: `npm test` runs them on the test kit's engine. */
const endToEnd = ["test/engine/*.test.ts"];

const project = (name: string, include: string[], exclude: string[], drivers: string, more = {}) => ({
  extends: true as const,
  test: { name, include, exclude, env: { TEST_DRIVERS: drivers }, ...more },
});

/** A process for many files, since most of a short file's time goes into loading Pulumi's SDK. */
const oneProcess = { isolate: false, setupFiles: "test/freshModules.ts" };

export default defineConfig({
  test: {
    // End-to-end cases start real processes; two cores do not carry more than two of them at once.
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // The types of the examples are checked once, by `npm run lint`.
    env: { PULUMI_NODEJS_TRANSPILE_ONLY: "true" },
    projects: [
      project("fast", ["test/**/*.test.ts"], atLength, "kit", oneProcess),
      project("all", atLength, [], "kit,cli"),
      project("cli", endToEnd, atLength, "kit,cli"),
    ],
  },
});

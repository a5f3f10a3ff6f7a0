import { defineConfig } from "vitest/config";

/** What takes seconds, starts other programs or a browser, or is random: `npm run test:slow`. Everything else: `npm test`. */
const slow = ["{test,sdk/*/test}/**/*.slow.test.ts"];

/** What needs the Pulumi CLI: `npm run test:cli`. Some of these tests run a case on the test kit's engine first, and compare. */
const cli = ["{test,sdk/*/test}/**/*.cli.test.ts"];

/** End-to-end cases, written once for both drivers: on the test kit's engine alone in `npm test`, on both beside the CLI's tests. */
const endToEnd = ["test/e2e/life.test.ts"];

export default defineConfig({
  test: {
    // End-to-end cases start real processes; two cores do not carry more than two of them at once.
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // The types of the examples are checked once, by `npm run lint`.
    // A time without a zone is never this machine's.
    env: { PULUMI_NODEJS_TRANSPILE_ONLY: "true", TZ: "Asia/Kathmandu" },
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: ["{test,sdk/*/test}/**/*.test.ts"],
          exclude: [...slow, ...cli],
          env: { TEST_DRIVERS: "kit" },
          // A process for many files, since most of a short file's time goes into loading Pulumi's SDK.
          isolate: false,
          setupFiles: "test/freshModules.ts",
        },
      },
      { extends: true, test: { name: "slow", include: slow } },
      { extends: true, test: { name: "cli", include: [...cli, ...endToEnd] } },
    ],
  },
});

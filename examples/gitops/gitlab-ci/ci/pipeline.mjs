/*
 * Turns the list of stacks into a child pipeline with a job for each stack, of which JOBS run at once:
 *
 *   pulumi-endpoints stacks --projects FILE --jobs JOBS --json - | node ci/pipeline.mjs JOBS
 */
import { readFileSync } from "node:fs";

const atOnce = Number(process.argv[2]);
const { include: stacks } = JSON.parse(readFileSync(0, "utf8"));
const isPreview = Boolean(process.env.CI_MERGE_REQUEST_IID);
const nameOf = ({ folder, stack }) => `${folder}: ${stack}`;

const jobs = stacks.map((each, at) => {
  const { folder, project, stack, requestsPerWindow } = each;
  const job = {
    extends: isPreview ? ".preview" : ".up",
    variables: {
      FOLDER: folder,
      PROJECT: project,
      STACK: stack,
      NUMBER: `${at}`,
      ENDPOINTS_REQUESTS_PER_WINDOW: `${requestsPerWindow}`,
    },
    // GitLab has no limit for jobs at once, so each job waits for the end of an earlier one.
    needs: at < atOnce ? [] : [{ job: nameOf(stacks[at - atOnce]), artifacts: false }],
    // Somebody may run a job again while a later pipeline runs.
    ...(!isPreview && { resource_group: `endpoints-${project}-${stack}` }),
  };
  return [nameOf(each), job];
});
// The comment counts a stack without results as failed, so it needs the names of all.
const include = stacks.map(({ project, stack }) => ({ project, stack }));
if (isPreview)
  jobs.push(["comment", { extends: ".comment", variables: { MATRIX: JSON.stringify({ include }) } }]);
console.log(JSON.stringify(Object.fromEntries(jobs), undefined, 2));

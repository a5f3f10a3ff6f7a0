import { z } from "zod";
import { ApiError } from "../../provider/api/apiErrors";
import { oneLine } from "../../provider/api/text";

/* What failures mean to commands: those of the service, and those of the Pulumi CLI. */

/** What the Automation API throws if the CLI fails. Its message has the CLI's stdout, which may have secrets in it. */
const cliErrorSchema = z.object({
  commandResult: z.object({
    stderr: z.string(),
    err: z
      .object({
        exitCode: z.number().optional().catch(undefined),
        code: z.string().optional().catch(undefined),
      })
      .optional()
      .catch(undefined),
  }),
});

/** How the CLI failed; undefined for every other error. `code` is the system's if it could not be started. */
export function cliFailure(error: unknown) {
  const { data } = cliErrorSchema.safeParse(error);
  return data && { stderr: data.commandResult.stderr, ...data.commandResult.err };
}

/** The CLI's message, without the command that the Automation API puts before it. */
export const cliMessage = (stderr: string): string =>
  oneLine(stderr.replace(/^[\s\S]*?error: /, "")) || "the Pulumi CLI failed without a message";

/** An error's message, as people may read it. */
export function messageOf(error: unknown): string {
  const failure = cliFailure(error);
  if (failure) return cliMessage(failure.stderr);
  return error instanceof Error ? error.message : String(error);
}

/** Whether the service refused the key, or Pulumi's backend the login: the CLI's exit code for it is 3. */
export const isAuthenticationError = (error: unknown): boolean =>
  error instanceof ApiError ? [401, 403].includes(error.status) : cliFailure(error)?.exitCode === 3;

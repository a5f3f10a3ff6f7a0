import { ApiError } from "../../provider/service/apiErrors";
import { NEEDS_LOGIN, PulumiFailed } from "../test-engine/index";
import {
  type CliCommand,
  type Definition,
  command as framed,
  type Options,
  EXIT as ofFrame,
} from "../traffic-policy/index";

export {
  type CliCommand,
  type LogLine,
  messageOf,
  type Option,
  type Options,
  type Streams,
  type Terminal,
  UsageError,
  type Values,
  whyNotWritten,
} from "../traffic-policy/index";

/* The frame of all commands, of which that of policies is one. */

/** Exit codes. The Pulumi CLI also ends with 7 if it finds unexpected changes. */
export const EXIT = { ...ofFrame, authentication: 3, undeployed: 8 } as const;

export const command = <const T extends Options>(definition: Definition<T>): CliCommand =>
  framed(definition, {
    name: "pulumi-endpoints",
    start: "npx pulumi-endpoints",
    exitAfter: (error) => (isAuthenticationError(error) ? EXIT.authentication : EXIT.failed),
  });

/** Whether the service refused the key, or Pulumi's backend the login. */
export const isAuthenticationError = (error: unknown): boolean =>
  error instanceof ApiError
    ? [401, 403].includes(error.status)
    : error instanceof PulumiFailed && error.code === NEEDS_LOGIN;

const NAMES = ["verify-webhook", "verify-webhook-secret", "traffic-policy-file"] as const;

export type OptionValues = Partial<Record<(typeof NAMES)[number], string>>;

/**
 * Reads command-line options as the agent does: `--name value` or `--name=value`, where a value may begin with a dash,
 * as a secret can. Of an option that is given twice the last one counts.
 *
 * @throws Error that counts the arguments from 1 and never quotes one, since each may be a secret in the wrong place.
 */
export function readOptions(args: readonly string[]): OptionValues {
  const values: OptionValues = {};
  for (let index = 0; index < args.length; index++) {
    const argument = args[index] ?? "";
    const name = NAMES.find((each) => argument === `--${each}` || argument.startsWith(`--${each}=`));
    if (name === undefined) {
      const known = NAMES.map((each) => `--${each}`).join(", ");
      throw new Error(`argument ${index + 1} is no option of the agent that the stand-in has: ${known}`);
    }
    const joined = argument.slice(`--${name}=`.length);
    const value = argument === `--${name}` ? args[++index] : joined;
    if (value === undefined) throw new Error(`--${name} has no value`);
    values[name] = value;
  }
  return values;
}

import { didYouMean, type JsonObject } from "../data/index";
import { hasUnknown } from "../pulumi/sentinels";
import { UserError } from "../service/apiErrors";
import { type Inputs, inputFields, type PreviewInputs } from "./fields";
import { notedSecrets, SECRET_FIELDS_KEY } from "./secrets";
import { standInsIn } from "./standIns";

/** The property in which Pulumi keeps a dynamic resource's provider. It belongs to the engine, not to the user. */
export const PROVIDER_KEY = "__provider";

/**
 * The property in which the resource's class passes on mistakes that the check of a single resource cannot see, such as a
 * conflict with another resource of the program. Each mistake is a line; the text is empty if there is none. It is never stored.
 */
export const PROBLEM_KEY = "__problem";

/** A mistake in the inputs. It never quotes an input, because any input may be secret. */
interface Failure {
  /** The name of the input. The engine does not receive it, because it would print the value beside the reason. */
  input: string;
  reason: string;
}

export interface Checked {
  /** The inputs in the form of the state. Unknown values are unchanged. */
  inputs: JsonObject;
  failures: Failure[];
}

/**
 * Finds every mistake of a resource that can be found without the service and the state, and converts the inputs to the form of the
 * state. Unknown values pass.
 */
export function checkInputs(news: JsonObject): Checked {
  const inputs: JsonObject = {};
  const failures: Failure[] = [];
  for (const [name, value] of Object.entries(news)) {
    if (name === PROVIDER_KEY || isMissing(value)) continue;
    const checked = isInput(name) ? checkInput(name, value) : checkOther(name, value, news);
    if (checked.value !== undefined) inputs[name] = checked.value;
    for (const reason of checked.reasons) failures.push({ input: name, reason });
  }
  if (isMissing(news["url"])) failures.push({ input: "url", reason: URL_MISSING });
  return { inputs, failures };
}

const URL_MISSING = "url is missing; give the address to serve, as in https://shop.example.com";
const isMissing = (value: unknown) => value === undefined || value === null;

/** The value for the state, and the mistakes. */
interface CheckedInput {
  value?: unknown;
  reasons: string[];
}

function checkInput(name: keyof typeof inputFields, value: unknown): CheckedInput {
  const standIns = standInsIn(value);
  // The other mistakes of a stand-in would only distract.
  if (standIns.length > 0) return { reasons: standIns.map((what) => `${name} ${what}`) };
  if (hasUnknown(value)) return { value, reasons: [] };
  const parsed = inputFields[name].safeParse(value);
  if (!parsed.success) return { reasons: parsed.error.issues.map(({ message }) => `${name} ${message}`) };
  // An empty description or metadata counts as not given: both are cleared on the service.
  return { value: parsed.data === "" ? undefined : parsed.data, reasons: [] };
}

/** A property of the resource's class, or a name that is unknown. */
function checkOther(name: string, value: unknown, news: JsonObject): CheckedInput {
  if (name === SECRET_FIELDS_KEY) return { value: notedSecrets(news), reasons: [] };
  if (name === PROBLEM_KEY)
    return { reasons: value === "" || hasUnknown(value) ? [] : String(value).split("\n") };
  const known = Object.keys(inputFields);
  const hint = didYouMean(name, known, `the inputs are ${known.join(", ")}`);
  return { reasons: [`${name} is no input of a cloud endpoint${hint}`] };
}

/** What a check has returned, as the engine hands it back: with its own property, and the note of the secret fields. */
export type EngineInputs = PreviewInputs & { [PROVIDER_KEY]?: unknown; [SECRET_FIELDS_KEY]?: unknown };

/** @throws UserError if these are no inputs of a cloud endpoint. */
export function engineInputs(props: JsonObject): EngineInputs {
  if (isEngineInputs(props)) return props;
  throw new UserError(
    "The state has no inputs of this endpoint. Run `pulumi refresh`, then run the command again.",
  );
}

const isEngineInputs = (props: JsonObject): props is EngineInputs => typeof props["url"] === "string";

/** @throws UserError if a part is unknown. The engine knows all values when it asks for a change. */
export function knownInputs(inputs: PreviewInputs): Inputs {
  if (isWithoutUnknown(inputs)) return inputs;
  throw new UserError(
    "Pulumi has asked for a change with a value that is not known yet. Run the command again.",
  );
}

const isWithoutUnknown = (inputs: PreviewInputs): inputs is Inputs => !hasUnknown(inputs);

function isInput(name: string): name is keyof typeof inputFields {
  return Object.hasOwn(inputFields, name);
}

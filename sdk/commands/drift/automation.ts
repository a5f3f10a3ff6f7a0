import type { EngineEvent, LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { EngineEvents } from "../../testing/cliEvents";
import { asked, isCloudEndpointType, openProject, StackError, stackConfig } from "../stacks";
import { type Interruption, interrupted } from "./interruption";
import { type DriftStack, errorsOf, type OpenStacks, type Ran } from "./stack";

/** The stacks of the user's own project, run by the Pulumi CLI through Pulumi's Automation API. It never prompts. */
export const openWithPulumi: OpenStacks = async (folder, names, interruption) => {
  const project = await openProject(folder, "drift", "");
  // Pulumi's own would make each stack the selected one, for the user's later commands too.
  project.selectStack = async () => {};
  const wanted = names.length > 0 ? names : [await selected(project)];
  return Promise.all(wanted.map((name) => openStack(project, name, interruption)));
};

async function selected(project: LocalWorkspace): Promise<string> {
  const stack = await asked(() => project.stack());
  if (stack) return stack.name;
  throw new StackError("no stack is selected: give --stack, or select one with `pulumi stack select`");
}

async function openStack(
  project: LocalWorkspace,
  name: string,
  { stopped, forward: signal }: Interruption,
): Promise<DriftStack> {
  const automation = await import("@pulumi/pulumi/automation/index.js");
  const stack = await automation.Stack.select(name, project);
  const run = (
    start: (onEvent: (event: EngineEvent) => void) => Promise<unknown>,
    watch?: (event: EngineEvent) => void,
  ) => {
    if (stopped.aborted) throw interrupted();
    return ended(start, watch);
  };
  return {
    name,
    config: () => stackConfig(project, name),
    state: async () => {
      const { version, deployment } = await asked(() => stack.exportStack());
      return { version, deployment };
    },
    look: (progress) => {
      let done = 0;
      return run(
        (onEvent) => stack.previewRefresh({ onEvent, signal }),
        ({ resOutputsEvent: step }) => {
          if (step && isCloudEndpointType(step.metadata.type)) progress(++done);
        },
      );
    },
    plan: () => run((onEvent) => stack.preview({ onEvent, signal })),
    rehearse: (target) => run((onEvent) => stack.preview({ refresh: true, target, onEvent, signal })),
    repair: (target) => run((onEvent) => stack.up({ refresh: true, target, onEvent, signal })),
  };
}

/** A run that fails has told why in its events; one that never began has not, and is an error. */
async function ended(
  start: (onEvent: (event: EngineEvent) => void) => Promise<unknown>,
  watch: (event: EngineEvent) => void = () => {},
): Promise<Ran> {
  const events = new EngineEvents();
  const onEvent = (event: EngineEvent) => {
    events.add(event);
    watch(event);
  };
  try {
    await asked(() => start(onEvent));
    return { ok: true, ...events.report("") };
  } catch (error) {
    const ran: Ran = { ok: false, ...events.report("") };
    if (error instanceof StackError && errorsOf(ran) !== undefined) return ran;
    throw error;
  }
}

import { checkFiles, tryRequest } from "../traffic-policy/command/index";
import { command } from "./command";
import { JSON_OPTION } from "./options";

const ONLY_CHECKS = { excludes: ["request"] } as const;
const FOR_REQUEST = { needs: ["request"] } as const;

/** `npx pulumi-endpoints check-policy`: the warnings of a preview, for policies in files. */
export const checkPolicyCommand = command({
  name: "check-policy",
  about: "Checks traffic policies in files, and warns of what is probably wrong with them.",
  takes: "FILE…",
  options: {
    url: {
      value: "URL",
      help: "the URL of the cloud endpoint that gets the policies. The check then also covers what the scheme allows, and whether an action answers (default: the endpoint that the file names for each policy)",
      ...ONLY_CHECKS,
    },
    strict: { help: "exit with 7 if there are warnings", ...ONLY_CHECKS },
    github: { help: "write annotations for GitHub Actions", excludes: ["request", "json"] },
    request: {
      value: "REQUEST",
      help: 'do not check, but print what the file\'s policy does with a request on this machine: "GET https://shop.example.com/admin"',
    },
    header: { value: "HEADER", help: 'a header, as in "X-Role: admin"', isRepeatable: true, ...FOR_REQUEST },
    body: { value: "TEXT", help: "the body (default: none)", ...FOR_REQUEST },
    clientIp: { value: "IP", help: "the client's address", default: "127.0.0.1", ...FOR_REQUEST },
    conn: {
      value: "NAME=VALUE",
      help: "a variable below conn, as in geo.country_code=DE",
      isRepeatable: true,
      ...FOR_REQUEST,
    },
    vault: {
      value: "V/NAME=VALUE",
      help: "a value in one of the service's vaults",
      isRepeatable: true,
      ...FOR_REQUEST,
    },
    json: JSON_OPTION,
  },
  notes: `A file is YAML or JSON: a policy, or an agent's configuration, Kubernetes manifests, a Pulumi.yaml or the output of terraform show -json that contain policies. The file - is the standard input. The command makes no request.
Exit codes: 0 checked, or answered; 7 warnings (with --strict); 2 invalid arguments; 1 a file cannot be read, or only the service knows the reply.`,
  run: ({ request, ...values }, io, files) =>
    request === undefined ? checkFiles(files, values, io) : tryRequest(request, files, values, io),
});

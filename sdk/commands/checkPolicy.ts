import { checkFiles, checkOptions, requestLine, requestOptions, tryRequest } from "../traffic-policy/index";
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
    url: { ...checkOptions.url, ...ONLY_CHECKS },
    strict: { ...checkOptions.strict, ...ONLY_CHECKS },
    github: { ...checkOptions.github, excludes: ["request", "json"] },
    request: {
      value: "REQUEST",
      help: 'do not check, but print what the file\'s policy does with a request on this machine: "GET https://shop.example.com/admin"',
      parse: requestLine,
    },
    header: { ...requestOptions.header, ...FOR_REQUEST },
    body: { ...requestOptions.body, ...FOR_REQUEST },
    clientIp: { ...requestOptions.clientIp, ...FOR_REQUEST },
    conn: { ...requestOptions.conn, ...FOR_REQUEST },
    vault: { ...requestOptions.vault, ...FOR_REQUEST },
    json: JSON_OPTION,
  },
  notes: `A file is YAML or JSON: a policy, or an agent's configuration, Kubernetes manifests, a Pulumi.yaml or the output of terraform show -json that contain policies. The file - is the standard input. The command makes no request.
Exit codes: 0 checked, or answered; 7 warnings (with --strict); 2 invalid arguments; 1 a file cannot be read, or only the service knows the reply.`,
  run: ({ request, ...values }, io, files) =>
    request ? tryRequest(request, files, values, io) : checkFiles(files, values, io),
});

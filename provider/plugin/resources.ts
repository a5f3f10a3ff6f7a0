import {
  CheckFailure,
  type CheckRequest,
  CheckResponse,
  type CreateRequest,
  CreateResponse,
  type DeleteRequest,
  type DiffRequest,
  type DiffResponse,
  type ReadRequest,
  ReadResponse,
  type UpdateRequest,
  UpdateResponse,
} from "@pulumi/pulumi/proto/provider_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import type { Log } from "../api/client";
import type { Settings } from "../api/config";
import type { JsonObject } from "../api/json";
import { checkedInputs, checkInputs, PROBLEM_KEY, URN_KEY, UrlRegistry } from "../endpoint/check";
import { PartialCreateError } from "../endpoint/errors";
import type { CloudEndpoints } from "../endpoint/resource";
import { notedFields, secretFields, withNote, withSecretsNoted } from "../endpoint/secrets";
import { changedPlaces, previewCreate, previewUpdate, withGiven } from "../endpoint/state";
import { type PolicyReader, policyReader, resourceWarnings } from "../policy/resourceWarnings";
import type { Configuration } from "./configuration";
import { detailedDiff, placesOfInputs } from "./detailedDiff";
import { InitFailed } from "./failure";
import { received, toStruct } from "./values";

/** What the calls of a run must know of each other. */
export interface RunNotes {
  /** The URLs that no message may contain. */
  readonly secretUrls: Set<unknown>;
  /** The expressions of webhook verifications and merges, which have been checked. */
  readonly checkedExpressions: Set<string>;
  /** The warnings of functions. */
  readonly warned: Set<string>;
}

/** The operations on cloud endpoints: the core behind the plugin protocol. */
export class Resources {
  readonly run: RunNotes = { secretUrls: new Set(), checkedExpressions: new Set(), warned: new Set() };
  private readonly urls = new UrlRegistry();
  /** The URNs whose policies have been checked. The engine checks a resource again before it replaces it. */
  private readonly checked = new Set<string>();

  /** @param configuration If the settings are not known, in a preview, no request is made. */
  constructor(
    private readonly core: CloudEndpoints,
    private readonly log: Log,
    private readonly configuration: Pick<Configuration, "isKnown" | "isStateless">,
    private readonly policyWarnings: () => Settings["policyWarnings"],
  ) {}

  async check(request: CheckRequest): Promise<CheckResponse> {
    const olds = this.noted(request.getOlds());
    const news = this.noted(request.getNews());
    const readPolicy = policyReader();
    const policy = news["trafficPolicy"];
    const given =
      policy === undefined ? news : { ...news, trafficPolicy: readPolicy(policy)?.data ?? policy };
    const checked = this.configuration.isKnown
      ? await this.core.check(olds, { ...given, [URN_KEY]: request.getUrn() })
      : checkInputs(given, olds);
    // The engine gives the URN with each call, so the state need not.
    const { [URN_KEY]: _, ...inputs } = checked.inputs;
    const { failures } = checked;

    // The package's own SDK has checked the resources of the program, and passes on the result.
    if (!(PROBLEM_KEY in news)) {
      const name = request.getName();
      const entry = { owner: request.getUrn(), name, pooled: inputs["poolingEnabled"] === true };
      const conflict = this.urls.register(inputs["url"], inputs["adopt"], entry);
      if (conflict !== undefined) failures.push({ input: "", reason: conflict });
      if (!this.checked.has(request.getUrn())) {
        // Without secrets, because a warning names keys.
        const { props: shown } = received(request.getNews(), { hidesSecrets: true });
        for (const warning of this.warningsOf(shown, inputs, readPolicy)) {
          if (this.policyWarnings() === "error") failures.push({ input: "", reason: warning });
          else this.log.warn(warning);
        }
      }
      this.checked.add(request.getUrn());
    }

    const response = new CheckResponse();
    response.setInputs(toStruct(inputs, secretFields(inputs)));
    for (const { reason } of failures) {
      const failure = new CheckFailure();
      failure.setReason(reason);
      response.addFailures(failure);
    }
    return response;
  }

  private warningsOf(shown: JsonObject, inputs: JsonObject, readPolicy: PolicyReader): string[] {
    if (this.policyWarnings() === "off") return [];
    const revealed = notedFields(inputs).includes("trafficPolicy") ? inputs["trafficPolicy"] : undefined;
    const isChecked = (expression: string) => this.run.checkedExpressions.has(expression);
    return resourceWarnings(shown, readPolicy, { revealed, isChecked });
  }

  diff(request: DiffRequest): DiffResponse {
    const olds = this.noted(request.getOlds());
    const news = this.noted(request.getNews());
    const oldInputs = this.noted(request.getOldInputs());
    // First, because it refuses the state of a later major version.
    const decision = this.core.diff(request.getId(), olds, { ...news, [URN_KEY]: request.getUrn() });
    return detailedDiff(placesOfInputs(changedPlaces(olds, checkedInputs(news)), oldInputs, news), decision);
  }

  async create(request: CreateRequest): Promise<CreateResponse> {
    const news = this.noted(request.getProperties());
    const response = new CreateResponse();
    if (request.getPreview()) {
      response.setProperties(answer(previewCreate(checkedInputs(news)), news));
      return response;
    }
    try {
      const { id, outs } = await this.core.create({ ...news, [URN_KEY]: request.getUrn() });
      response.setId(id);
      response.setProperties(answer(outs, news));
      return response;
    } catch (error) {
      throw error instanceof PartialCreateError ? new InitFailed(error, news, secretFields(news)) : error;
    }
  }

  /** A refresh has the state's inputs. A call without them is an import, or a program's `get`. */
  async read(request: ReadRequest): Promise<ReadResponse> {
    const outputs = this.noted(request.getProperties());
    const inputs = this.noted(request.getInputs());
    const stored = withNote(outputs, [...notedFields(outputs), ...notedFields(inputs)]);
    const id = request.getId();
    // A program's `get` has no state, unlike a resource whose state has no inputs.
    const isGet = Object.keys(stored).length === 0;
    const found = this.configuration.isStateless
      ? await this.core.describe(id)
      : request.hasInputs()
        ? await this.core.read(id, isGet ? stored : withGiven(stored, inputs))
        : await this.core.import(id, { [URN_KEY]: request.getUrn() });

    const response = new ReadResponse();
    response.setId(found.id);
    if (found.id === "") return response;
    response.setProperties(answer(found.props, stored));
    if (found.inputs) response.setInputs(answer(found.inputs, stored));
    return response;
  }

  async update(request: UpdateRequest): Promise<UpdateResponse> {
    const olds = this.noted(request.getOlds());
    const news = this.noted(request.getNews());
    const outs = request.getPreview()
      ? previewUpdate(olds, checkedInputs(news))
      : (await this.core.update(request.getId(), olds, { ...news, [URN_KEY]: request.getUrn() })).outs;
    const response = new UpdateResponse();
    response.setProperties(answer(outs, news));
    return response;
  }

  async delete(request: DeleteRequest): Promise<void> {
    await this.core.delete(request.getId(), this.noted(request.getProperties()));
  }

  /** Properties from the engine, with a note of those that contain a secret. */
  private noted(struct: Struct | undefined): JsonObject {
    const { props, secrets } = received(struct);
    if (secrets.has("url")) this.run.secretUrls.add(props["url"]);
    return withNote(props, [...notedFields(props), ...secrets]);
  }
}

/** An answer for the engine, which marks its secret fields. */
function answer(props: JsonObject, asked: JsonObject): Struct {
  const noted = withSecretsNoted(props, asked);
  return toStruct(noted, secretFields(noted));
}

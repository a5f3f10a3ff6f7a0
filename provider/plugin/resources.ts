import {
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
import type { JsonObject } from "../api/json";
import { checkedInputs, checkInputs, PROBLEM_KEY, URN_KEY } from "../endpoint/inputs";
import { previewCreate, previewUpdate } from "../endpoint/previews";
import type { CloudEndpoints } from "../endpoint/resource";
import { markedAnswer, notedFields, withNote, withSecretsMarked } from "../endpoint/secrets";
import { changedPlaces, stateWithGiven } from "../endpoint/state";
import { UrlRegistry } from "../endpoint/urlRegistry";
import { type PolicyReader, policyReader, resourceWarnings } from "../policy/resourceWarnings";
import type { Configuration } from "./configuration";
import { detailedDiff, placesOfInputs } from "./detailedDiff";
import type { EngineLog } from "./engineLog";
import { checkFailure } from "./failure";
import { fromEngine, toEngine } from "./values";

/** What the calls of a run must know of each other. */
export interface RunNotes {
  /** The URLs that no message may contain. */
  readonly secretUrls: Set<unknown>;
}

/** The operations on cloud endpoints: the core behind the plugin protocol. */
export class Resources {
  readonly run: RunNotes = { secretUrls: new Set() };
  private readonly urls = new UrlRegistry();

  /** @param configuration If the settings are not known, in a preview, no request is made. */
  constructor(
    private readonly core: CloudEndpoints,
    private readonly log: EngineLog,
    private readonly configuration: Configuration,
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
      // Without secrets, because a warning names keys.
      const { props: shown } = fromEngine(request.getNews(), { hidesSecrets: true });
      for (const warning of this.policyWarnings(shown, readPolicy)) {
        if (this.configuration.policyWarnings === "error") failures.push({ input: "", reason: warning });
        else this.log.warnOnce(warning);
      }
    }

    const response = new CheckResponse();
    response.setInputs(toEngine(withSecretsMarked(inputs)));
    response.setFailuresList(failures.map(({ reason }) => checkFailure(reason)));
    return response;
  }

  private policyWarnings(shown: JsonObject, readPolicy: PolicyReader): string[] {
    return this.configuration.policyWarnings === "off" ? [] : resourceWarnings(shown, readPolicy);
  }

  diff(request: DiffRequest): DiffResponse {
    const olds = this.noted(request.getOlds());
    const news = this.noted(request.getNews());
    const oldInputs = this.noted(request.getOldInputs());
    const decision = this.core.diff(request.getId(), olds, { ...news, [URN_KEY]: request.getUrn() });
    return detailedDiff(placesOfInputs(changedPlaces(olds, checkedInputs(news)), oldInputs, news), decision);
  }

  async create(request: CreateRequest): Promise<CreateResponse> {
    const news = this.noted(request.getProperties());
    const response = new CreateResponse();
    if (request.getPreview()) {
      response.setProperties(toEngine(markedAnswer(previewCreate(checkedInputs(news)), news)));
      return response;
    }
    const { id, outs } = await this.core.create({ ...news, [URN_KEY]: request.getUrn() });
    response.setId(id);
    response.setProperties(toEngine(markedAnswer(outs, news)));
    return response;
  }

  /** A refresh has the state's inputs. A call without them is an import, or a program's `get`. */
  async read(request: ReadRequest): Promise<ReadResponse> {
    const outputs = this.noted(request.getProperties());
    const inputs = this.noted(request.getInputs());
    const stored = withNote(outputs, [...notedFields(outputs), ...notedFields(inputs)]);
    const id = request.getId();
    // A program's `get` has no state, unlike a resource whose state has no inputs.
    const isGet = Object.keys(stored).length === 0;
    const found = request.hasInputs()
      ? await this.core.read(id, isGet ? stored : stateWithGiven(stored, inputs))
      : await this.core.import(id, { [URN_KEY]: request.getUrn() });

    const response = new ReadResponse();
    response.setId(found.id);
    if (found.id === "") return response;
    response.setProperties(toEngine(markedAnswer(found.props, stored)));
    if (found.inputs) response.setInputs(toEngine(markedAnswer(found.inputs, stored)));
    return response;
  }

  async update(request: UpdateRequest): Promise<UpdateResponse> {
    const olds = this.noted(request.getOlds());
    const news = this.noted(request.getNews());
    const outs = request.getPreview()
      ? previewUpdate(olds, checkedInputs(news))
      : (await this.core.update(request.getId(), olds, { ...news, [URN_KEY]: request.getUrn() })).outs;
    const response = new UpdateResponse();
    response.setProperties(toEngine(markedAnswer(outs, news)));
    return response;
  }

  async delete(request: DeleteRequest): Promise<void> {
    await this.core.delete(request.getId(), this.noted(request.getProperties()));
  }

  /** Properties from the engine, with a note of those that contain a secret. */
  private noted(struct: Struct | undefined): JsonObject {
    const { props, secrets } = fromEngine(struct);
    if (secrets.has("url")) this.run.secretUrls.add(props["url"]);
    return withNote(props, [...notedFields(props), ...secrets]);
  }
}

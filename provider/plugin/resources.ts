import * as pb from "@pulumi/pulumi/proto/provider_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { type JsonObject, type PolicyReader, policyReader } from "../data/index";
import { checkInputs, engineInputs, PROBLEM_KEY } from "../endpoint/inputs";
import type { CloudEndpoints } from "../endpoint/resource";
import { answerForEngine, notedSecrets, withSecretsMarked, withSecretsNote } from "../endpoint/secrets";
import { changedPaths, stateWithSetByProgram, VERSION_KEY } from "../endpoint/state";
import { UrlRegistry } from "../endpoint/urlRegistry";
import { hasUnknown } from "../pulumi/sentinels";
import { fromEngine } from "../pulumi/values";
import type { Configuration } from "./configuration";
import { changesOfInputs, detailedDiff } from "./detailedDiff";
import type { EngineLog } from "./engineLog";
import { asStruct, checkFailure } from "./failure";
import type { PolicyWarnings } from "./functions";
import { previewCreate, previewUpdate } from "./previews";

/** The operations on cloud endpoints: the core behind the plugin protocol. */
export class Resources {
  private readonly urls = new UrlRegistry();

  /** @param configuration If the settings are not known, in a preview, no request is made. */
  constructor(
    private readonly core: CloudEndpoints,
    private readonly log: EngineLog,
    private readonly configuration: Configuration,
    private readonly warnings: PolicyWarnings,
  ) {}

  async check(request: pb.CheckRequest): Promise<pb.CheckResponse> {
    const oldInputs = this.propsOf(request.getOlds());
    const news = this.propsOf(request.getNews());
    const readPolicy = policyReader();
    const { trafficPolicy } = news;
    const given = { ...news, trafficPolicy: readPolicy(trafficPolicy)?.data ?? trafficPolicy };
    const checked = this.configuration.hasAllSettings
      ? await this.core.check(oldInputs, given)
      : checkInputs(given);
    const { inputs } = checked;
    const reasons = checked.failures.map(({ reason }) => reason);
    // The package's own SDK has checked the resources of the program, and passes on the result.
    if (!(PROBLEM_KEY in news)) {
      const isNew = Object.keys(oldInputs).length === 0;
      const facts = { isPublicService: this.configuration.isPublicService, isNew };
      const warnings = reasons.length > 0 ? [] : this.warnings.inputWarnings(inputs, facts);
      for (const warning of warnings) this.log.warn(warning);
      reasons.push(...this.problemsInProgram(request, inputs, readPolicy));
    }
    return new pb.CheckResponse()
      .setInputs(asStruct(withSecretsMarked(inputs)))
      .setFailuresList(reasons.map((reason) => checkFailure(reason)));
  }

  /** A conflict with another resource of the program, and the policy's warnings if they are to fail. */
  private problemsInProgram(
    request: pb.CheckRequest,
    inputs: JsonObject,
    readPolicy: PolicyReader,
  ): string[] {
    const { url, adopt, poolingEnabled } = inputs;
    const use = { owner: request.getUrn(), name: request.getName(), pooled: poolingEnabled === true };
    // As in the package's own SDK, a resource registers nothing while one of these is unknown.
    const conflict = hasUnknown([url, adopt, poolingEnabled])
      ? undefined
      : this.urls.register(url, adopt, use);
    // Without secrets, because a warning names keys.
    const { props: shown } = fromEngine(request.getNews(), { hidesSecrets: true });
    const find = () => this.warnings.resourceWarnings(shown, readPolicy);
    const { policyWarnings: mode } = this.configuration;
    const warnings = this.warnings.logOrReturnWarnings(mode, find, this.log.warn);
    return conflict === undefined ? warnings : [conflict, ...warnings];
  }

  async diff(request: pb.DiffRequest): Promise<pb.DiffResponse> {
    const state = this.propsOf(request.getOlds());
    const news = engineInputs(this.propsOf(request.getNews()));
    const decision = await this.core.diff(request.getId(), state, news);
    // A search for the places of changes compares whole documents, so only a change is worth it.
    const changes = decision.changes
      ? changesOfInputs(changedPaths(state, news), this.propsOf(request.getOldInputs()), news)
      : [];
    return detailedDiff(changes, decision);
  }

  async create(request: pb.CreateRequest): Promise<pb.CreateResponse> {
    const news = engineInputs(this.propsOf(request.getProperties()));
    if (request.getPreview()) {
      const previewed = answerForEngine(previewCreate(news), news);
      return new pb.CreateResponse().setProperties(asStruct(previewed));
    }
    const { id, outs } = await this.core.create(news);
    return new pb.CreateResponse().setId(id).setProperties(asStruct(outs));
  }

  /** Only an import has no inputs. For a `get`, Pulumi sends the program's inputs. */
  async read(request: pb.ReadRequest): Promise<pb.ReadResponse> {
    const outputs = this.propsOf(request.getProperties());
    const inputs = this.propsOf(request.getInputs());
    const state = withSecretsNote(outputs, [...notedSecrets(outputs), ...notedSecrets(inputs)]);
    const id = request.getId();
    // What a program only reads has no notes.
    const isManaged = VERSION_KEY in state;
    const found = request.hasInputs()
      ? await this.core.read(id, isManaged ? stateWithSetByProgram(state, inputs) : state)
      : await this.core.import(id);

    const response = new pb.ReadResponse().setId(found.id);
    if (found.id === "") return response;
    if (found.inputs) response.setInputs(asStruct(found.inputs));
    return response.setProperties(asStruct(found.props));
  }

  async update(request: pb.UpdateRequest): Promise<pb.UpdateResponse> {
    const state = this.propsOf(request.getOlds());
    const news = engineInputs(this.propsOf(request.getNews()));
    const outs = request.getPreview()
      ? answerForEngine(previewUpdate(state, news), news)
      : (await this.core.update(request.getId(), state, news)).outs;
    return new pb.UpdateResponse().setProperties(asStruct(outs));
  }

  async delete(request: pb.DeleteRequest): Promise<void> {
    await this.core.delete(request.getId(), this.propsOf(request.getProperties()));
  }

  /** Properties from the engine, with a note of those that contain a secret. */
  private propsOf(struct: Struct | undefined): JsonObject {
    const { props, secrets } = fromEngine(struct);
    return withSecretsNote(props, [...notedSecrets(props), ...secrets]);
  }
}

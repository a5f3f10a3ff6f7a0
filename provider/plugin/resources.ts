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
import type { JsonObject } from "../api/json";
import { checkedInputs, checkInputs, PROBLEM_KEY, URN_KEY } from "../check";
import type { CloudEndpoints } from "../cloudEndpoint";
import { changedPlaces } from "../diff";
import { PartialCreateError } from "../errors";
import { inputFields } from "../fields";
import type { MarkedSecrets } from "../markedSecrets";
import { fieldOf, notedPlaces, secretFields, withPlaces } from "../markedSecrets";
import { headerWarnings } from "../policy/headerNames";
import {
  type PolicyReader,
  policyReader,
  resourceWarnings,
  withoutSecrets,
} from "../policy/resourceWarnings";
import { previewCreate, previewUpdate } from "../preview";
import { withGiven } from "../state";
import { UrlRegistry } from "../urlRegistry";
import { detailedDiff, placesOfInputs } from "./detailedDiff";
import { InitFailed } from "./failure";
import { type Received, received, toStruct } from "./values";

/** The operations on cloud endpoints: the core behind the plugin protocol. */
export class Resources {
  private readonly urls = new UrlRegistry();
  /** The URNs whose policies have been checked. The engine checks a resource again before it replaces it. */
  private readonly checked = new Set<string>();

  /** @param isConfigured Whether the settings are known. Otherwise, in a preview, no request is made. */
  constructor(
    private readonly core: CloudEndpoints,
    private readonly secrets: MarkedSecrets,
    private readonly log: Log,
    private readonly isConfigured: () => boolean,
    private readonly warnsOfPolicies: () => boolean,
  ) {}

  async check(request: CheckRequest): Promise<CheckResponse> {
    const { props: olds } = noted(request.getOlds());
    const { props: news, secrets } = noted(request.getNews());
    this.secrets.learn(olds, news);
    const readPolicy = policyReader();
    const policy = news["trafficPolicy"];
    const given =
      policy === undefined ? news : { ...news, trafficPolicy: readPolicy(policy)?.data ?? policy };
    const { inputs, failures } = this.isConfigured()
      ? await this.core.check(olds, given)
      : checkInputs(given, olds);

    // The package's own SDK has checked the resources of the program, and passes on the result.
    if (!(PROBLEM_KEY in news)) {
      const name = request.getName();
      const entry = { owner: request.getUrn(), name, pooled: inputs["poolingEnabled"] === true };
      const conflict = this.urls.register(inputs["url"], inputs["adopt"], entry);
      if (conflict !== undefined) failures.push({ input: "", reason: conflict });
      if (!this.checked.has(request.getUrn())) {
        this.warnOfHeaders(inputs, secrets);
        this.warnOfPolicy(news, readPolicy);
      }
      this.checked.add(request.getUrn());
    }

    const response = new CheckResponse();
    response.setInputs(toStruct(inputs, secrets));
    for (const { reason } of failures) {
      const failure = new CheckFailure();
      failure.setReason(reason);
      response.addFailures(failure);
    }
    return response;
  }

  private warnOfHeaders({ trafficPolicy }: JsonObject, secrets: ReadonlySet<string>): void {
    for (const warning of headerWarnings({ trafficPolicy }, secrets.has("trafficPolicy")))
      this.log.warn(warning);
  }

  private warnOfPolicy(news: JsonObject, readPolicy: PolicyReader): void {
    if (!this.warnsOfPolicies()) return;
    const shown = withoutSecrets(news, notedPlaces(news));
    for (const warning of resourceWarnings(shown, readPolicy)) this.log.warn(warning);
  }

  diff(request: DiffRequest): DiffResponse {
    const { props: olds } = noted(request.getOlds());
    const { props: news } = noted(request.getNews());
    const { props: oldInputs } = noted(request.getOldInputs());
    return detailedDiff(
      placesOfInputs(changedPlaces(olds, checkedInputs(news)), oldInputs, news),
      this.core.diff(request.getId(), olds, { ...news, [URN_KEY]: request.getUrn() }),
    );
  }

  async create(request: CreateRequest): Promise<CreateResponse> {
    const { props: news, secrets } = noted(request.getProperties());
    this.secrets.learn(news);
    const response = new CreateResponse();
    if (request.getPreview()) {
      response.setProperties(this.answer(previewCreate(checkedInputs(news)), news, secrets));
      return response;
    }
    try {
      const { id, outs } = await this.core.create({ ...news, [URN_KEY]: request.getUrn() });
      response.setId(id);
      response.setProperties(this.answer(outs, news, secrets));
      return response;
    } catch (error) {
      throw error instanceof PartialCreateError ? new InitFailed(error, news, secrets) : error;
    }
  }

  /** A refresh has the state's inputs. A call without them is an import, or a program's `get`. */
  async read(request: ReadRequest): Promise<ReadResponse> {
    const outputs = noted(request.getProperties());
    const inputs = noted(request.getInputs());
    const stored = withPlaces(outputs.props, [...notedPlaces(outputs.props), ...notedPlaces(inputs.props)]);
    this.secrets.learn(stored, inputs.props);
    const id = request.getId();
    // A program's `get` has no state, unlike a resource whose state has no inputs.
    const isGet = Object.keys(stored).length === 0;
    const found = request.hasInputs()
      ? await this.core.read(id, isGet ? stored : withGiven(stored, inputs.props))
      : await this.core.import(id);

    const secrets = new Set([...inputs.secrets, ...outputs.secrets]);
    const response = new ReadResponse();
    response.setId(found.id);
    if (found.id === "") return response;
    response.setProperties(this.answer(found.props, stored, secrets));
    if (found.inputs) response.setInputs(this.answer(found.inputs, stored, secrets, request.hasInputs()));
    return response;
  }

  async update(request: UpdateRequest): Promise<UpdateResponse> {
    const { props: olds } = noted(request.getOlds());
    const { props: news, secrets } = noted(request.getNews());
    this.secrets.learn(olds, news);
    const outs = request.getPreview()
      ? previewUpdate(olds, checkedInputs(news))
      : (await this.core.update(request.getId(), olds, { ...news, [URN_KEY]: request.getUrn() })).outs;
    const response = new UpdateResponse();
    response.setProperties(this.answer(outs, news, secrets));
    return response;
  }

  async delete(request: DeleteRequest): Promise<void> {
    const { props } = noted(request.getProperties());
    this.secrets.learn(props);
    await this.core.delete(request.getId(), props);
  }

  /**
   * @param secrets The fields that the request marks as secret.
   * @param withNote Whether the answer keeps its note. Imported inputs become code, which must not contain it.
   */
  private answer(
    props: JsonObject,
    asked: JsonObject,
    secrets: ReadonlySet<string>,
    withNote = true,
  ): Struct {
    const answer = this.secrets.noted(props, asked);
    return toStruct(withNote ? answer : props, new Set([...secrets, ...secretFields(answer)]));
  }
}

/** Properties from the engine, with a note of the marked secrets in fields without a note. */
function noted(struct: Struct | undefined): Received {
  const { props, secrets, places } = received(struct);
  const before = notedPlaces(props);
  const isNew = (place: string) =>
    fieldOf(place) in inputFields && !before.some((one) => fieldOf(one) === fieldOf(place));
  return { props: withPlaces(props, [...before, ...places.filter(isNew)]), secrets, places };
}

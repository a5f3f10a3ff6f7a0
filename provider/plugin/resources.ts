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
import { checkedInputs, checkInputs, PROBLEM_KEY, URN_KEY } from "../check";
import { Claims } from "../claims";
import type { CloudEndpoints } from "../cloudEndpoint";
import { changedPlaces } from "../diff";
import { sameData } from "../document";
import { plannedCreate, plannedUpdate } from "../planned";
import type { JsonObject } from "../schema";
import { secretPlaces } from "../secrets";
import { withGiven } from "../state";
import { UnfinishedCreate } from "../unfinished";
import { decidedWithUrl } from "../url";
import { detailedDiff } from "./detailedDiff";
import { InitFailed } from "./failure";
import { received, toStruct } from "./values";

/** The operations on cloud endpoints, each translated from the plugin protocol to the core and back. */
export class Resources {
  private readonly claims = new Claims();

  /** @param isConfigured Whether the service is known; in a preview it may not be, and only what needs none can be done. */
  constructor(
    private readonly core: CloudEndpoints,
    private readonly isConfigured: () => boolean,
  ) {}

  async check(request: CheckRequest): Promise<CheckResponse> {
    const { props: olds } = received(request.getOlds());
    const { props: news, secrets } = received(request.getNews());
    const { inputs, failures } = this.isConfigured()
      ? await this.core.check(olds, news)
      : checkInputs(news, olds);

    // Where the SDK has looked at all resources of the program, it says so in an input of its own.
    const mine = {
      owner: request.getUrn(),
      name: request.getName(),
      pooled: inputs["poolingEnabled"] === true,
    };
    const taken = PROBLEM_KEY in news ? undefined : this.claims.take(inputs["url"], inputs["adopt"], mine);
    if (taken !== undefined) failures.push({ property: "", reason: taken });

    const response = new CheckResponse();
    response.setInputs(toStruct(inputs, secrets));
    for (const { property, reason } of failures) {
      const failure = new CheckFailure();
      // The engine prints the value of a property that it knows by name, secret or not.
      failure.setProperty(secrets.has(property) ? `${property}.value` : property);
      failure.setReason(reason);
      response.addFailures(failure);
    }
    return response;
  }

  diff(request: DiffRequest): DiffResponse {
    const { props: olds } = received(request.getOlds());
    const { props: news } = received(request.getNews());
    return detailedDiff(
      changedPlaces(olds, checkedInputs(news)),
      this.core.diff(request.getId(), olds, news),
    );
  }

  async create(request: CreateRequest): Promise<CreateResponse> {
    const { props: news, secrets } = received(request.getProperties());
    const response = new CreateResponse();
    if (request.getPreview()) {
      response.setProperties(toStruct(plannedCreate(checkedInputs(news)), withDerived(secrets)));
      return response;
    }
    try {
      const { id, outs } = await this.core.create({ ...news, [URN_KEY]: request.getUrn() });
      response.setId(id);
      response.setProperties(toStruct(outs, withDerived(secrets)));
      return response;
    } catch (error) {
      throw error instanceof UnfinishedCreate ? new InitFailed(error, news, secrets) : error;
    }
  }

  /** A refresh tells what the state has; without that, the endpoint is about to be imported or only looked at. */
  async read(request: ReadRequest): Promise<ReadResponse> {
    const outputs = received(request.getProperties());
    const inputs = received(request.getInputs());
    const id = request.getId();
    const found = request.hasInputs()
      ? await this.core.read(id, withGiven(outputs.props, inputs.props))
      : await this.core.import(id);

    const secrets = withDerived([...inputs.secrets, ...outputs.secrets, ...newSecrets(found, outputs.props)]);
    const response = new ReadResponse();
    response.setId(found.id);
    if (found.id === "") return response;
    response.setProperties(toStruct(found.props, secrets));
    if (found.inputs) response.setInputs(toStruct(found.inputs, secrets));
    return response;
  }

  async update(request: UpdateRequest): Promise<UpdateResponse> {
    const { props: olds } = received(request.getOlds());
    const { props: news, secrets } = received(request.getNews());
    const outs = request.getPreview()
      ? plannedUpdate(olds, checkedInputs(news))
      : (await this.core.update(request.getId(), olds, { ...news, [URN_KEY]: request.getUrn() })).outs;
    const response = new UpdateResponse();
    response.setProperties(toStruct(outs, withDerived(secrets)));
    return response;
  }

  async delete(request: DeleteRequest): Promise<void> {
    await this.core.delete(request.getId(), received(request.getProperties()).props);
  }
}

/** What is derived from a secret URL tells it. */
function withDerived(secrets: Iterable<string>): ReadonlySet<string> {
  const all = new Set(secrets);
  return all.has("url") ? new Set([...all, "publicUrl", "hostport", ...decidedWithUrl]) : all;
}

/** Documents in which a secret has come that the state did not have: nobody has marked it yet. */
function newSecrets({ props }: { props: JsonObject }, stored: JsonObject): string[] {
  const documents = ["trafficPolicy", "metadata"];
  return documents.filter(
    (name) => !sameData(props[name], stored[name]) && secretPlaces(props[name]).length > 0,
  );
}

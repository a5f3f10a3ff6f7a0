"""A public endpoint for each customer in a list, all with the same policy, and one for the signed webhooks of Stripe.

    npm install                                         # brings the plugin
    pulumi stack init dev
    export ENDPOINTS_BASE_URL=… ENDPOINTS_API_KEY=…     # or the line that `npx pulumi-endpoints emulator` prints
    pulumi config set --secret stripeSecret …           # as Stripe shows it
    pulumi install                                      # generates the SDK, and installs it into ./venv
    pulumi up
    pulumi config set --path 'customers[0]' initech     # your own list; a new customer needs no new code
"""

import pulumi
import pulumi_endpoints as endpoints

customers = pulumi.Config().get_object("customers") or ["acme", "globex"]


def policy(customer: str) -> dict[str, object]:
    """Forwards to the internal endpoint of the customer's agent, with the customer's name in a header."""
    mark = {"type": "add-headers", "config": {"headers": {"x-customer": customer}}}
    forward = {"type": "forward-internal", "config": {"url": f"https://{customer}.internal"}}
    return {"on_http_request": [{"actions": [mark, forward]}]}


doors = [
    endpoints.CloudEndpoint(
        customer,
        url=f"https://{customer}.example.com",
        traffic_policy=policy(customer),
        metadata={"customer": customer},
        # A URL belongs to one endpoint at a time, so a replacement deletes the old one first.
        opts=pulumi.ResourceOptions(delete_before_replace=True),
    )
    for customer in customers
]

# Only webhooks that Stripe has signed reach the agent, whose configuration verifies them, too.
PAYMENTS = "https://payments.internal"
stripe = endpoints.WebhookVerification(
    "stripe",
    platform="stripe",
    secret=pulumi.Config().require_secret("stripeSecret"),
    agent={"url": PAYMENTS, "upstream": 8080},
)
merged = endpoints.merge_traffic_policy_output(
    policy={"on_http_request": [{"actions": [{"type": "forward-internal", "config": {"url": PAYMENTS}}]}]},
    verifications=pulumi.Output.all(stripe.traffic_policy),
)
payments = endpoints.CloudEndpoint(
    "payments",
    url="https://payments.example.com",
    traffic_policy=merged.traffic_policy,
    opts=pulumi.ResourceOptions(delete_before_replace=True),
)

# A data source: the agents' endpoints of this account.
agents = endpoints.get_endpoints(types=["ephemeral"], url_pattern="https://*.internal")
connected = {agent.url for agent in agents.endpoints}

pulumi.export("urls", [door.public_url for door in [*doors, payments]])
pulumi.export("not connected", [name for name in customers if f"https://{name}.internal" not in connected])
# For `pulumi stack output --show-secrets agentConfig > payments.yml`, and `ngrok start --all --config payments.yml`.
pulumi.export("agentConfig", stripe.agent_config)

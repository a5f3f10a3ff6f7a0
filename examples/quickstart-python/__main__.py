import pulumi
import pulumi_endpoints as endpoints

shop = endpoints.CloudEndpoint(
    "shop",
    url="https://shop.example.com",
    description="front door",
    traffic_policy={
        "on_http_request": [{"actions": [{"type": "custom-response", "config": {"status_code": 200, "body": "hello"}}]}]
    },
    # A URL belongs to one endpoint at a time, so a replacement deletes the old one first.
    opts=pulumi.ResourceOptions(delete_before_replace=True),
)

pulumi.export("url", shop.public_url)
pulumi.export("endpointId", shop.id)

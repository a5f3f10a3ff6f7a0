// Webhooks of GitHub that GitHub has signed: a public endpoint that verifies them and forwards them to an agent, and the agent's
// configuration file, which verifies them again.
//
//	npm install                                        # the plugin
//	pulumi stack init dev
//	export ENDPOINTS_BASE_URL=… ENDPOINTS_API_KEY=…    # or the line that `npx pulumi-endpoints emulator` prints
//	pulumi config set --secret githubSecret …
//	pulumi install                                     # generates the SDK
//	pulumi up
//	pulumi stack output --show-secrets agentConfig > hooks.yml
package main

import (
	"example.com/pulumi-endpoints/sdk/go/endpoints"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

const internal = "https://github.internal"

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		github, err := endpoints.NewWebhookVerification(ctx, "github", &endpoints.WebhookVerificationArgs{
			Platform: pulumi.String("github"),
			Secret:   config.New(ctx, "").RequireSecret("githubSecret"),
			Agent:    &endpoints.WebhookAgentArgs{Url: pulumi.String(internal), Upstream: pulumi.Int(8080)},
		})
		if err != nil {
			return err
		}

		forward := map[string]any{"type": "forward-internal", "config": map[string]any{"url": internal}}
		policy := endpoints.MergeTrafficPolicyOutput(ctx, endpoints.MergeTrafficPolicyOutputArgs{
			Policy: pulumi.Any(map[string]any{
				"on_http_request": []any{map[string]any{"actions": []any{forward}}},
			}),
			Verifications: pulumi.StringArray{github.TrafficPolicy},
		})
		hooks, err := endpoints.NewCloudEndpoint(ctx, "hooks", &endpoints.CloudEndpointArgs{
			Url:           pulumi.String("https://hooks.example.com"),
			TrafficPolicy: policy.TrafficPolicy(),
			// A URL belongs to one endpoint at a time, so a replacement deletes the old one first.
		}, pulumi.DeleteBeforeReplace(true))
		if err != nil {
			return err
		}

		ctx.Export("url", hooks.PublicUrl)
		ctx.Export("secretSource", github.SecretSource)
		ctx.Export("agentConfig", github.AgentConfig)
		return nil
	})
}

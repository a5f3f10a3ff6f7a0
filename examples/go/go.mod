module hooks

go 1.25

require (
	example.com/pulumi-endpoints/sdk/go v0.0.0-00010101000000-000000000000
	github.com/pulumi/pulumi/sdk/v3 v3.256.0
)

replace example.com/pulumi-endpoints/sdk/go => ./sdks/endpoints

import { CloudEndpoint, rules } from "pulumi-endpoints";

const hello = new CloudEndpoint("hello", {
  url: "https://hello.example.com",
  trafficPolicy: { on_http_request: [rules.answer({ status_code: 200, body: "hello" })] },
});

export const url = hello.publicUrl;

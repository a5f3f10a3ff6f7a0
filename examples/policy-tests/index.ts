import { CloudEndpoint } from "pulumi-endpoints";
import { policy } from "./policy";

const gateway = new CloudEndpoint("gateway", { url: "https://gateway.example.com", trafficPolicy: policy });

export const url = gateway.publicUrl;

export { canonicalJson, isMapping, type JsonObject, jsonOf, parseJson } from "../../sdk/traffic-policy/index";

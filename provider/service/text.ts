export { didYouMean, escaped, nearName, oneLine, PIPELINE_COMMAND } from "../../sdk/traffic-policy/index";

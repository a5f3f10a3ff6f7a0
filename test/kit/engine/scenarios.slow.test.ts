import { dynamicOptions, dynamicScenarios } from "./dynamicScenarios";
import { otherOptions, otherScenarios } from "./otherScenarios";
import { playAll } from "./play";
import { pluginOptions, pluginScenarios } from "./pluginScenarios";

playAll("dynamic", dynamicScenarios, dynamicOptions);
playAll("plugin", pluginScenarios, pluginOptions);
playAll("other", otherScenarios, otherOptions);

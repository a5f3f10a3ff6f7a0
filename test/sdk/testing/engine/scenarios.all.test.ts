import { dynamicOptions, dynamicScenarios } from "./dynamicScenarios";
import { playAll } from "./play";
import { pluginOptions, pluginScenarios } from "./pluginScenarios";

playAll("dynamic", dynamicScenarios, dynamicOptions);
playAll("plugin", pluginScenarios, pluginOptions);

import { dynamicOptions, dynamicScenarios } from "./dynamicScenarios";
import { playAll } from "./play";
import { plainPluginOptions, plainPluginScenarios, pluginOptions, pluginScenarios } from "./pluginScenarios";

playAll("dynamic", dynamicScenarios, dynamicOptions);
playAll("plugin", pluginScenarios, pluginOptions);
playAll("plugin", plainPluginScenarios, plainPluginOptions);

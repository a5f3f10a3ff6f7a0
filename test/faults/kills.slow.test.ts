import { testKills } from "./kills";

testKills("kit");

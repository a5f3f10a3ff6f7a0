import { testKills } from "./kills";

testKills("cli");

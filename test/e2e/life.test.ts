import { life } from "./life";

life("plugin");

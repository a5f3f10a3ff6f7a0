import { life } from "./life";

/* `npm test` runs the plugin's case. The demo, which is part of it, covers most of this one. */
life("dynamic");

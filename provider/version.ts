/** The package's version, as requests name it in their `User-Agent`. A test holds it against `package.json`. */
export const VERSION = "0.1.0";

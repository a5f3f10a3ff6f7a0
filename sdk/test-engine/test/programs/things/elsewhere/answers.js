/** Mocks of the package `elsewhere`. Its plugin (on the CLI) and the test engine's option `others` both use them. */
exports.newResource = ({ name, inputs, id }) =>
  id
    ? { id, state: { text: `read ${id}`, computed: `of ${id}` } }
    : { id: `${name}-id`, state: { ...inputs, computed: `of ${name}` } };

exports.call = ({ token, inputs }) => {
  if (inputs.fails) throw new Error("no answer");
  return { token, ...inputs };
};

/** The answers of the package `elsewhere`: of its plugin, which the CLI runs, and of the test engine's option `others`. */
exports.newResource = ({ name, inputs, id }) =>
  id
    ? { id, state: { text: `read ${id}`, computed: `of ${id}` } }
    : { id: `${name}-id`, state: { ...inputs, computed: `of ${name}` } };

exports.call = ({ token, inputs }) => {
  if (inputs.fails) throw new Error("no answer");
  return { token, ...inputs };
};

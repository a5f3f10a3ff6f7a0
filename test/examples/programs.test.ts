// This example is a test itself.
import "../../examples/policy-tests/policy.test";

// Package reduce combines documents of one key, as the "reduce" annotations of their schema say (https://docs.estuary.dev/concepts/schemas/#reductions).
// A location without an annotation takes the later value whole. "merge" is neither a deep merge nor RFC 7396: of two objects it takes the members of
// both, and a member that both have is reduced by what is annotated at *that* location.
//
// Documents are JSON text; what is not reduced is copied byte for byte, so numbers and strings never change their spelling. Start with Compile and
// Reducer.Reduce.
//
// Where Flow's documentation leaves a case open, this package decides: annotations of then and else count before those beside them, and those before the
// ones of $ref, allOf, anyOf and oneOf; of equal values minimize and maximize keep the later; sum takes null for nothing; a null is never appended to nor
// merged into, it stays (and replaces what was there). Conditions look at the later document.
package reduce

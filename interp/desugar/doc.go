// Package desugar replaces constructs of Go by simpler ones, so that the VM has fewer constructs to compile.
//
// [Source.Run] applies the passes to the statements of a function, in the order of the list passes in source.go. Each pass changes
// the checked syntax tree, records the types of what it adds, and begins with a comment that shows the code
// before and after. A test type-checks programs again after each pass and compares the types with the recorded ones.
//
// # Where does a construct belong?
//
// Here, if Go without the construct can express it and the code is no slower. In the VM, if it has instructions for it: loops and
// ranges, for example, have fused ones.
//
// [Source.SharedLoopVariables] comes first. It is not a pass: it changes only packages in an old language, and their facts.
//
// The facts of package facts remain valid: the passes only add variables, which no function literal captures.
package desugar

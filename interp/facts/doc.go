// Package facts analyzes functions before they are compiled. [Of] computes the facts of one function with all its function literals, in one pass over
// its syntax:
//
//   - for a variable: whether its address is taken, whether function literals capture it, where it is assigned to;
//   - for a call that makes a slice: what determines the capacity of the slice, see [Capacity];
//   - the labels of goto statements.
//
// [Recovers] and [ReceiverBase] look at a declaration alone, [ParameterAt] at a signature.
//
// The facts of a function remain valid after evaluation order has been made explicit: that only adds variables, which
// are set once and used once.
package facts

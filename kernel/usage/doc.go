// Package usage measures what the processes of a kernel use, of the processor,
// of the memory and of GPUs.
//
// A [Meter] is asked again and again, by a panel of the front end for instance,
// and each answer is about the time since the one before. It never waits for a
// driver: GPUs are asked in the background, and an answer has what they said
// last.
package usage

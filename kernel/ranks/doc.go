// Package ranks has several workers run each cell together.
//
// A [Group] is a link.Worker, as the one worker is that it has at first. %ranks 4 in
// a cell makes it start four: each is a rank of a data-parallel training, knows its
// place by the variables of the environment that torchrun sets, and runs every cell
// of the notebook. What a reader sees is that of rank 0:
//
//   - its displays, results and widgets, and its answers to completion and
//     inspection;
//   - the output of all ranks, a line that rank 0 prints too once, any other with its
//     ranks before it, see fold.go;
//   - an error once, with the ranks that had it, see verdict.go.
//
// Rank 0 alone reads input and runs what is to happen once, such as a command of the
// shell; the others wait for that.
//
// # Failures
//
// A cell succeeds if it does on all ranks. When it fails on one, the others have a
// moment to come to the same end, and are interrupted then: they may wait for the one
// that failed. When a rank dies the others are ended too, since the ranks must be in
// step, and as many start again.
//
// With one rank nothing stands between the front and the worker.
package ranks
